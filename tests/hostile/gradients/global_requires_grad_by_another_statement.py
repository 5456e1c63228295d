import torch
from torch import Tensor


W = torch.zeros(3)
W.requires_grad_()


@torch.compile
def f(x: Tensor):
    if x.sum() > 0:
        y = torch.neg(W)
    else:
        y = torch.ones_like(W)
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
