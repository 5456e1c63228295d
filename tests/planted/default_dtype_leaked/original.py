import torch


def f(x: torch.Tensor) -> torch.Tensor:
    return x + torch.zeros(1, dtype=torch.float64)
