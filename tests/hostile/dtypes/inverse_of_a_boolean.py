import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, c: Tensor):
    if c.any():
        y = c & ~(x > 0).all()
    else:
        y = c | (x > 0).all()
    return y


def inputs():
    return [
        (torch.tensor([1.0]), torch.tensor([False])),
        (torch.tensor([1.0]), torch.tensor([1])),
        (torch.tensor([1.0]), torch.tensor([1.0])),
    ]
