import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, p: Tensor):
    m = p.float()
    if x.sum() > 0:
        y = x + m.item()
    else:
        y = x + 1.0
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), torch.ones(2)) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
