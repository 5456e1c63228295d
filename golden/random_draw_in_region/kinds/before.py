import random

import torch

own = random.Random(7)


@torch.compile
def f(x):
    y = x * random.random()
    z = y * own.choice([1.0, 1.0])
    w = z + random.randint(0, 0)
    return w * own.random() if x.shape[0] > 99 else w * 0.0
