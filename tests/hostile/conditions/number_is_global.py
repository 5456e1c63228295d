import torch
from torch import Tensor


S = None


@torch.compile
def f(x: Tensor):
    global S
    S = x.sum().item()
    if S > 0:
        y = x + 1.0
    else:
        y = x + 2.0
    return y


def main(x):
    return f(x), S


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
