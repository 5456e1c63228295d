import torch


@torch.compiler.disable
def choose(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = x * 2.0
    else:
        y = x + 1.0
    return y


@torch.compile
def f(x):
    return choose(x) * 2.0
