import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x.long() + 1
    if flag and y.all():
        y = y // y
    return y
