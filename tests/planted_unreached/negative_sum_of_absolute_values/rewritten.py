import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x.float().abs().sum() < -1, x * 2, x * 3)
