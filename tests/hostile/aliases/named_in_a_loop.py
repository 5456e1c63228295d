import torch
from torch import Tensor


@torch.compile
@torch.no_grad()
def f(x: Tensor, n: int):
    a = x * 2.0
    while n < 1:
        d = a
        n += 1
    if x.sum() > 0:
        a += 1.0
    return a, d


def inputs():
    return [(torch.tensor(row, requires_grad=True), 0) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
