import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    a = x.float().log()
    if (x > 0).all():
        y = a + 1.0
    else:
        y = x.float() + 1.0
    return y


def inputs():
    return [(torch.tensor([0.0, 1.0], requires_grad=True),), (torch.tensor([-0.0, 1.0], requires_grad=True),)]
