import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, keep: list):
    if x.sum() > 0:
        y = x + 1.0
        keep.append(y)
    else:
        y = x + 2.0
        keep.append(y)
    y.add_(1.0)
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), []) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
