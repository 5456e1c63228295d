import torch


@torch.compile
def choose(x: torch.Tensor, g) -> torch.Tensor:
    if x.sum() > 0:
        y = g(x)
    else:
        y = x + 1.0
    return y


def f(x):
    return choose(x, torch.neg)
