import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    x = x.float() + 1.0
    if x.sum() > 0:
        y = x // 2.0
    else:
        y = torch.zeros_like(x)
    return y


def main(x):
    y = f(x)
    if y.requires_grad:
        y.sum().backward()
    return y.detach(), x.grad


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
