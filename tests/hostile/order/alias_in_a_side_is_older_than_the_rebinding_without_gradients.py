import torch
from torch import Tensor


@torch.compile
@torch.no_grad()
def f(x: Tensor, c: Tensor):
    w = x + 1.0
    t = x + 2.0
    if c.sum() > 0:
        y = t
        t = t + 3.0
        z = y + t
    else:
        z = w + w
    return z


def inputs():
    return [(torch.tensor([1.0]), torch.tensor([1.0])), (torch.tensor([1.0]), torch.tensor([-1.0]))]
