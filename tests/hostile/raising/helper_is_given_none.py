from typing import Optional

import torch
from torch import Tensor


def helper(t, s):
    return t + s


@torch.compile
def f(x: Tensor, s: Optional[int] = None):
    if x.sum() > 0:
        y = helper(x, s)
    else:
        y = x + 1
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
