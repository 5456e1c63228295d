import torch
from torch import Tensor


STATE = None


@torch.compile
def f(x: Tensor):
    global STATE
    if x.sum() > 0:
        STATE = x + 2.0
        return x + 1.0
    STATE = x + 3.0
    return x + 4.0


def main(x):
    return f(x), STATE


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
