import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    w = torch.zeros_like(x)
    u = w.view(-1)
    u.copy_(x)
    if x.sum() > 0:
        y = w + w
    else:
        y = torch.ones_like(w)
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
