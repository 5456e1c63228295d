import random

import torch


def f(x: torch.Tensor) -> torch.Tensor:
    """Flip a sign now and then, only of what is not zero."""
    if x.abs().sum() > 0 and random.random() < 0.5:
        return -x
    return x * 1
