import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = torch.where(x.sum() > 0, x[:2] * 1.0, x * 1.0)
    return y
