import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    x = x.float() * 1.0
    with torch.no_grad():
        if x.sum() > 0:
            y = x.mean(0, dtype=torch.float64)
        else:
            y = (x + 1.0).mean(0, dtype=torch.float64)
        z = x.mean(0)
        if x.sum() > 0:
            z = x.mean(dtype=torch.float64)
        else:
            z = x.sum()
    return y, z


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
