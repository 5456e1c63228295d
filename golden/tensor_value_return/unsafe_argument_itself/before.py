import torch


@torch.compile
def choose(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x * 2
    return x


def f(x):
    return choose(x) + 1.0
