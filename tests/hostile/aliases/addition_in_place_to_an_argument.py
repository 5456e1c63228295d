import torch
from torch import Tensor


@torch.compile
@torch.no_grad()
def f(x: Tensor, w: Tensor):
    if x.sum() > 0:
        w += 1.0
    return w


def inputs():
    return [(torch.tensor(row, requires_grad=True), torch.ones(3)) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
