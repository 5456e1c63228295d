import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x * 1
    y = torch.nan_to_num(y)
    return y
