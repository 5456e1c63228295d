import random

import torch

own = random.Random(5)


@torch.compile(dynamic=None)
def _step_graph(x: torch.Tensor, width: int, *, low: float, drawn, r):
    y = x * 2.0
    if drawn < low:
        y = y + width
    return y * r


def step(x: torch.Tensor, width: int = 2, *, low: float = 0.5) -> torch.Tensor:
    drawn = random.random()
    r = own.choice([1, 2])
    return _step_graph(x, width, low=low, drawn=drawn, r=r)


def f(x):
    random.seed(1)
    own.seed(2)
    return [step(x) for _ in range(6)], random.random(), own.random()
