import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, m: Tensor):
    if x.sum() == m.sum() == 0:
        y = x + 1.0
    else:
        y = x + 2.0
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), torch.zeros(2)) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
