import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    positive = x.sum() > 0
    return x * 2.0 if positive else x + 1.0
