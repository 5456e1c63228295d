import torch


@torch.no_grad()
@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    if x.sum() > 0:
        y += 2.0
    else:
        y *= 3.0
    return y
