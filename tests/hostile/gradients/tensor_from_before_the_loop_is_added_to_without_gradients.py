import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    b = x + x
    for _ in range(2):
        with torch.no_grad():
            if x.sum() > 0:
                b += 1.0
            else:
                b = b * 0.5
    return b


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
