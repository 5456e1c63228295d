import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    if x.sum() > 0:
        y = torch.as_tensor(x) + torch.as_tensor(x)
    else:
        y = torch.ones_like(torch.as_tensor(x))
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
