import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, w: Tensor, c: Tensor):
    x = x * 2.0
    if c.sum() > 0:
        y = x
        x = x + 3.0
        z = y + x
    else:
        z = w + w
    return z


def inputs():
    return [
        (torch.tensor([1.0]), torch.tensor([1.0]), torch.tensor([1.0])),
        (torch.tensor([1.0]), torch.tensor([1.0]), torch.tensor([-1.0])),
    ]
