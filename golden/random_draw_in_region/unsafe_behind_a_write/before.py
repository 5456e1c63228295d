import random

import torch


@torch.compile(backend="eager")
def f(x: torch.Tensor) -> torch.Tensor:
    x.add_(1.0)
    if random.random() < 0.5:
        x = x * 2.0
    return x
