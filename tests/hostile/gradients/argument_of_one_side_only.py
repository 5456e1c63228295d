import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, w: Tensor):
    if x.sum() > 0:
        y = x * 2.0
    else:
        y = w * 2.0
    return y


def inputs():
    return [
        (torch.tensor(row, requires_grad=True), torch.ones(3, requires_grad=True))
        for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])
    ]
