import random
from random import gauss

import torch


def scaled(x: torch.Tensor, rounds: int):
    """Scale by chance."""
    scale = gauss(0.0, float(rounds))
    drawn = random.choice([1.0, 2.0])
    drawn_2 = random.getrandbits(3)
    y = x * 2.0
    if rounds > 5:
        y = y.sum()
    z = x.exp() * drawn

    # both
    return y * scale + z, drawn_2


compiled = torch.compile(scaled)


def f(x):
    random.seed(11)
    return compiled(x, 1), compiled(x, 1), random.random()
