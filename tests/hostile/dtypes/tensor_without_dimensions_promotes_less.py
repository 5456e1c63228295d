import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, c: Tensor):
    s = x.sum()
    if c.any():
        y = x + s
    else:
        y = x + x
    return y


def inputs():
    return [
        (torch.tensor([1, 2], dtype=torch.int32), torch.tensor([True])),
        (torch.tensor([True, False]), torch.tensor([True])),
        (torch.tensor([1, 2], dtype=torch.int32), torch.tensor([False])),
        (torch.tensor([True, False]), torch.tensor([False])),
        (torch.tensor(2, dtype=torch.int32), torch.tensor(False)),
    ]
