import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return x.masked_fill(x > 1, 0)
