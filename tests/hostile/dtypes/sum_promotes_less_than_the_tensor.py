import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    s = x.sum() * 1.0
    t = x * 1.0
    if x.any():
        y = t + s
    else:
        y = t + t
    return y


def inputs():
    return [(torch.tensor([1, 0]),), (torch.tensor([0, 0]),), (torch.tensor([0.0, 0]).half(),), (torch.tensor(0),)]
