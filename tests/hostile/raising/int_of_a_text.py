import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, n: int):
    if x.sum() > 0:
        k = int("7" * n)
        y = x + k
    else:
        y = x + 1
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), 0) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
