from typing import Optional

import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, scale: Optional[float] = None):
    if x.sum() > 0:
        y = x + scale
    else:
        y = x.clone()
    return y


def inputs():
    return [(torch.tensor([-1.0, -2.0]), None), (torch.tensor([-1, -2]), 0.5), (torch.tensor([1, 2]), 0.5)]
