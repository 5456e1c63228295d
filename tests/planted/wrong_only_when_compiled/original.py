import torch


def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x * 2
    return x * 3
