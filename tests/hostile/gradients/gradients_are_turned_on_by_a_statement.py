import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    with torch.no_grad():
        torch.set_grad_enabled(True)
        if x.sum() > 0:
            y = x + x
        else:
            y = torch.ones_like(x)
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
