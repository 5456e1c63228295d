import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, flag: bool):
    t = x
    flag and (t := x.double())
    if x.sum() > 0:
        y = t + 1.0
    else:
        y = x.double() + 1.0
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), False) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
