import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x.float().mean() > 0.5, x * 2, x * 3)
