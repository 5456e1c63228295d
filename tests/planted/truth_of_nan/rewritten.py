import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x.sum().abs() > 0, x * 2, x * 3)
