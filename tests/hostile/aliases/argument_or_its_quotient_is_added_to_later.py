import torch
from torch import Tensor


@torch.compile
@torch.no_grad()
def f(x: Tensor, n: Tensor):
    x = x.long()
    b = x
    if x.sum() > 0:
        y = x + x // n.sum().long()
    else:
        y = x
    y += 1
    return x, y, b


def inputs():
    return [
        (torch.tensor([4, 2]), torch.tensor(2)),
        (torch.tensor([-4, 2]), torch.tensor(2)),
        (torch.tensor([4, 2]), torch.tensor([0, 1])),
        (torch.tensor([-4, 2]), torch.tensor([0, 1])),
    ]
