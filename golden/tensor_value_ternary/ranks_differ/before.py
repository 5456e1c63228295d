import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return (x[0] if x.sum() > 0 else x) * 2.0
