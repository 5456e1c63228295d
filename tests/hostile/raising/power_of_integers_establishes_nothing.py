import torch
from torch import Tensor


@torch.compile
def f(n: Tensor):
    s = n**2
    if (n != -1).all():
        y = n + (n.mean() != 0)
    else:
        y = n + (n.sum() != 0)
    return y, s


def inputs():
    return [(torch.tensor([-1, -2]),), (torch.tensor([1, 2]),)]
