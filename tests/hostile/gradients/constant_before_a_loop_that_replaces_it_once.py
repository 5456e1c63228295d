import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    a = torch.ones_like(x)
    for i in range(1):
        if x.sum() > 0:
            a = torch.ones_like(x)
        else:
            a = (x + 2.0).nan_to_num()
    return a


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
