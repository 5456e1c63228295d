import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return x * (x.abs() if x.sum() > 0 else 0.5)
