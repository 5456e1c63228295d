import random
from random import gauss

import torch


def scaled(x: torch.Tensor, rounds: int):
    """Scale by chance."""
    y = x * 2.0
    if rounds > 5:
        y = y.sum()
    scale = gauss(0.0, float(rounds))
    z = x.exp() * random.choice([1.0, 2.0])

    # both
    return y * scale + z, random.getrandbits(3)


compiled = torch.compile(scaled)


def f(x):
    random.seed(11)
    return compiled(x, 1), compiled(x, 1), random.random()
