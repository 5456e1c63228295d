import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return torch.where((torch.isnan(x) | (x == x)).all(), x * 2, x * 3)
