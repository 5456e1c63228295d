import contextlib

import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    with contextlib.suppress(Exception):
        s = x.amax()
    if x.sum() > 0:
        y = x + (x.amax() > 0)
    else:
        y = x + (x.sum() > 0)
    return y


def inputs():
    return [(torch.zeros(0),)]
