import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    y = x.float() * 1.0
    m = torch.isnan(y)
    if m.any():
        y = torch.where(m, 0.0, y)
    m.zero_()
    return y


def main(x):
    y = f(x)
    y.sum().backward()
    return y.detach()


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
