import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    if x.any():
        y = x.sum()
    else:
        y = x.sum() + x.sum()
    return y


def inputs():
    return [
        (torch.tensor([1, 2], dtype=torch.uint8),),
        (torch.tensor([True, False]),),
        (torch.tensor([0, 0], dtype=torch.uint8),),
    ]
