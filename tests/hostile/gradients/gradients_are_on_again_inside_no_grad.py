import torch
from torch import Tensor
from torch.autograd.grad_mode import set_grad_enabled


@torch.compile
def f(x: Tensor):
    with torch.no_grad():
        with set_grad_enabled(True):
            if x.sum() > 0:
                y = x + 1.0
            else:
                y = torch.zeros_like(x + 1.0)
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
