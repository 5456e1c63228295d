import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    s = x.float().mean().item()
    x = x.float() + 1.0
    y = x + 1.0 if s > 0 else x + s
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
