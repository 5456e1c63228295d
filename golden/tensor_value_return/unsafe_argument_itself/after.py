import torch


@torch.compile
def choose(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x.sum() > 0, x * 2, x)


def f(x):
    return choose(x) + 1.0
