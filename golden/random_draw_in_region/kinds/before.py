import random

import torch

own = random.Random(7)


@torch.compile
def f(x):
    w = x + random.randint(0, 0)
    y = w * random.random()
    for _ in range(2):
        y = y + own.choice([1.0, 1.0])
    first = random.choice([x, y])
    z = [random.gauss(0.0, 1.0) for _ in range(2)] if x.shape[0] > 99 else []
    return y * 0.0 + first * 0.0, z, own.random() > 2.0
