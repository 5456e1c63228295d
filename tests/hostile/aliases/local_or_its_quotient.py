import torch
from torch import Tensor


@torch.compile
@torch.no_grad()
def f(x: Tensor, n: Tensor):
    m = n.sum().long()
    b = x.long() * 1
    if x.sum() > 0:
        y = b // m
    else:
        y = b
    return y, b


def inputs():
    return [
        (torch.tensor([4, 2]), torch.tensor(2)),
        (torch.tensor([-4, 2]), torch.tensor(2)),
        (torch.tensor([4, 2]), torch.tensor([0, 1])),
        (torch.tensor([-4, 2]), torch.tensor([0, 1])),
    ]
