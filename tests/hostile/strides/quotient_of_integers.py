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
        y = b + m
    return y, b


def inputs():
    return [
        (torch.tensor([4, 2]), torch.tensor(2)),
        (torch.tensor([-4, 2]), torch.tensor(2)),
        (torch.tensor([[4, 2], [1, 1]]).t(), torch.tensor(0)),
        (torch.tensor([-4, 2]), torch.tensor(0)),
        (torch.tensor(4), torch.tensor(2)),
        (torch.zeros(0, dtype=torch.int64), torch.tensor(2)),
        (torch.ones(2, 3, dtype=torch.int64).t(), torch.tensor(2)),
        (-torch.ones(1, 3, dtype=torch.int64).expand(2, 3), torch.tensor(2)),
    ]
