import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return (x * 2.0 if x.dim() == 1 else x * 4.0) if x.sum() > 0 else x + 1.0
