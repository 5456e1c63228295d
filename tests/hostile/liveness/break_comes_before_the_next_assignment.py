import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, n: int):
    y = x
    for i in range(3):
        if x.sum() > 0:
            y = x + 2.0
        else:
            y = x + 3.0
        if i == n:
            break
        y = x
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), 1) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
