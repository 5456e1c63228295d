import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, a: list, b: list):
    if x.sum() > 0:
        h = a
        h.append(x + 1.0)
    else:
        h = b
        h.append(x + 2.0)
    return a, b


def inputs():
    return [(torch.tensor(row, requires_grad=True), [], []) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
