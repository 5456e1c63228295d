import torch


def double(t):
    return t * 2.0


def shift(t):
    moved = t + 1.0
    return moved


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = double(x)
    else:
        y = shift(x)
    return y * 2.0
