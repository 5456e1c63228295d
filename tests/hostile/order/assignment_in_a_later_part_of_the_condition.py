import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, m: Tensor):
    s = m.all()
    if (x > 0).all() and (s := (m > 1).any()):
        y = x + 1.0
    else:
        y = x + 2.0
    return y, s


def inputs():
    return [(torch.tensor(row, requires_grad=True), torch.ones(2)) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
