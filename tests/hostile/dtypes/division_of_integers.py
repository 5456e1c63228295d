import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, n: Tensor):
    n = n.long()
    if x.sum() > 0:
        y = n / 2
    else:
        y = n * 1.5
    return y


def inputs():
    return [
        (torch.tensor(row, requires_grad=True), torch.tensor([1, 2])) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])
    ]
