import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    n = x.sum() if x.dim() == 1 else 3
    if n > 0:
        y = x * 2.0
    else:
        y = x + 1.0
    return y
