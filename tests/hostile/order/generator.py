import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    if x.sum() > 0:
        y = x + 1.0
    else:
        y = x + 2.0
    yield y
    if x.sum() > 0:
        y = x + 4.0
    else:
        y = x + 5.0
    yield y


def main(x):
    return list(f(x))


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
