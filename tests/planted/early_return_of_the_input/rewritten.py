import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return torch.where((x <= 1).all(), x, x - 1)
