import torch


def choose(t: torch.Tensor) -> torch.Tensor:
    if t.sum() > 0:
        t = t * 2.0
    else:
        t = t + 1.0
    return t


@torch.compile
def f(x):
    return choose(x) - 1.0
