import torch
from torch import Tensor


@torch.compile
@torch.no_grad()
def f(x: Tensor, o):
    a = x * 2.0
    o.t = a
    if x.sum() > 0:
        a += 1.0
    return a, o.t


def inputs():
    return [(torch.tensor(row, requires_grad=True), torch.nn.Module()) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
