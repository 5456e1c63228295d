import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, n: int):
    y = x
    while True:
        if x.sum() > 0:
            y = x + 1.0
        else:
            y = x + 2.0
        n = n - 1
        if n > 0:
            continue
        break
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), 2) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
