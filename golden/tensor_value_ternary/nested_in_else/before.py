import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return x * 2.0 if x.sum() > 4.0 else x + 1.0 if x.sum() > 0 else x * 3.0
