import random

import torch


def f(x: torch.Tensor) -> torch.Tensor:
    """Flip a sign now and then, only of what is not zero."""
    flip = random.random() < 0.5
    if flip and x.abs().sum() > 0:
        return -x
    return x * 1
