import random

import torch


@torch.compile(backend="eager")
def _f_graph(x: torch.Tensor, *, drawn):
    x.add_(1.0)
    if drawn < 0.5:
        x = x * 2.0
    return x


def f(x: torch.Tensor) -> torch.Tensor:
    drawn = random.random()
    return _f_graph(x, drawn=drawn)
