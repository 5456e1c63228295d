import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor, count: int) -> torch.Tensor:
    y = x.long() + 1
    if (y > count).all():
        z = y // count
    else:
        z = y * 2
    return z
