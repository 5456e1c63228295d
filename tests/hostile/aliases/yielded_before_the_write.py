import torch
from torch import Tensor


@torch.compile
@torch.no_grad()
def f(x: Tensor):
    a = x * 2.0
    yield a
    if x.sum() > 0:
        a += 1.0
    yield a


def main(x):
    return tuple(f(x))


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
