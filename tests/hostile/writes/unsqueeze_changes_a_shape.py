import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    a = x * 2.0
    b = x * 3.0
    b.unsqueeze_(0)
    if x.sum() > 0:
        y = a + 1.0
    else:
        y = b + 1.0
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
