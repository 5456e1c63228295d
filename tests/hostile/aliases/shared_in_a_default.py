import torch
from torch import Tensor


@torch.compile
@torch.no_grad()
def f(x: Tensor, keep: list):
    a = x * 2.0

    def d(t=keep.append(a)):
        pass

    if x.sum() > 0:
        a += 1.0
    return a, keep


def inputs():
    return [(torch.tensor(row, requires_grad=True), []) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
