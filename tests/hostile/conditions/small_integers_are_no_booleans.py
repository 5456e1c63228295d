import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, m: Tensor):
    flag = m.any()
    if not flag and not m.all():
        y = x + 1.0
    else:
        y = x + 2.0
    return y


def inputs():
    return [
        (torch.tensor(row, requires_grad=True), torch.tensor([0, 3], dtype=torch.uint8))
        for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])
    ]
