import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, w: Tensor):
    t = w + 2.0
    if x.sum() > 0:
        y = t + 1.0
        t = x + 3.0
        z = t + 1.0
    else:
        y = w + 1.0
        z = x + 5.0
    return y, z


def inputs():
    return [(torch.tensor(row, requires_grad=True), torch.ones(3)) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
