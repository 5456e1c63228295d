import torch


def f(x: torch.Tensor) -> torch.Tensor:
    return 0 - x * 1.0
