import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, m: Tensor):
    if not (x > 0).any() | (m > 0).all():
        y = x + 1.0
    elif x.sum() & 1 == 1:
        y = x + 3.0
    else:
        y = x + 2.0
    return y


def inputs():
    return [
        (torch.tensor([1, 2]), torch.tensor([1, 0])),
        (torch.tensor([-1, -2]), torch.tensor([1, 0])),
        (torch.tensor([-1, -3]), torch.tensor([1, 1])),
    ]
