import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    x = x.float() * 1.0
    y = x * 1.0
    for _ in range(2):
        if x.sum() > 0:
            y = y + x.clamp(0.0, 1.0)
        else:
            y = y + x
        x += 0.1
    return y


def main(x):
    y = f(x)
    y.sum().backward()
    return y.detach()


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
