import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x + 1.0
    if flag and (x.sum() > 3 or x.dtype == torch.float64):
        y = x * 2.0
    return y
