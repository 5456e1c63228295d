import numpy as np
import torch

LIMITS = np.array([1.0, 2.0])


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if LIMITS.sum() > 2.0:
        y = x * 2.0
    else:
        y = x + 1.0
    return y
