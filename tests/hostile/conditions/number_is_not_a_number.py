import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    if x.max().item():
        y = x + 1.0
    else:
        y = x + 2.0
    return y


def inputs():
    return [(torch.tensor([float("nan")]),), (torch.tensor([0.0]),), (torch.tensor([-0.0]),)]
