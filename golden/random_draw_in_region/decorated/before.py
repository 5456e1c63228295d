import random

import torch

own = random.Random(5)


@torch.compile(dynamic=None)
def step(x: torch.Tensor, width: int = 2, *, low: float = 0.5) -> torch.Tensor:
    y = x * 2.0
    if random.random() < low:
        y = y + width
    r = own.choice([1, 2])
    return y * r


def f(x):
    random.seed(1)
    own.seed(2)
    return [step(x) for _ in range(6)], random.random(), own.random()
