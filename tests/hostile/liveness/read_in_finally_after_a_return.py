import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, keep: list):
    y = x
    try:
        if x.sum() > 0:
            y = x + 2.0
        else:
            y = x + 3.0
        return x
    finally:
        keep.append(y)


def inputs():
    return [(torch.tensor(row, requires_grad=True), []) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
