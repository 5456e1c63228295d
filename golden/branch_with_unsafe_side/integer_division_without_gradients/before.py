import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.long() + 1
    if y.all():
        z = y // y
    else:
        z = y * 0
    return z
