import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, keep: list):
    a = x * 2.0
    keep.append(a)
    if x.sum() > 0:
        a = a + 1.0
    a.add_(1.0)
    return a, keep


def inputs():
    return [(torch.tensor(row, requires_grad=True), []) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
