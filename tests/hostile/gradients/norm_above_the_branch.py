import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    x = x.float()
    a = x.norm()
    if x.sum() > 0:
        y = x + a
    else:
        y = x + x.sum()
    return y


def inputs():
    return [(torch.tensor([0.0, 0.0], requires_grad=True),), (torch.tensor([1.0, 0.0], requires_grad=True),)]
