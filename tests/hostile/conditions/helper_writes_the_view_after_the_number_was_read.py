import torch
from torch import Tensor


def helper(t):
    t.fill_(-1.0)


@torch.compile
def f(w: Tensor, x: Tensor):
    w = w.sum()
    v = w.detach()
    s = v.item()
    helper(w)
    if s > 0:
        y = x + 1.0
    else:
        y = x + 2.0
    return y


def inputs():
    return [(torch.tensor([1.0]), torch.tensor([1.0]))]
