import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = None
    if x.sum() > 0:
        y = x * 2.0
    return x if y is None else y
