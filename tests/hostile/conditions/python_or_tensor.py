import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, flag: bool):
    if flag or x.sum() > 0:
        y = x + 1.0
        z = y + 2.0
    else:
        y = x + 2.0
        z = x + x
    return y, z


def inputs():
    return [
        (torch.tensor([1.0, 2.0]), True),
        (torch.tensor([-1.0, 2.0]), False),
        (torch.tensor([-1.0, -2.0]), False),
        (torch.tensor([-1.0, -2.0]), True),
    ]
