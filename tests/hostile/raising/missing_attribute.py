import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, o):
    if x.sum() > 0:
        k = o.foo
        y = x + 1
    else:
        y = x + 2
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), 3) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
