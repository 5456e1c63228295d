import torch


def choose(t: torch.Tensor) -> torch.Tensor:
    t = torch.where(t.sum() > 0, t * 2.0, t + 1.0)
    return t


@torch.compile
def f(x):
    return choose(x) - 1.0
