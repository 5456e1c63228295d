import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        a, *b = x * 2.0, x + 1.0
    else:
        a, *b = x + 1.0, x * 2.0
    return a + b[0]
