import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, k: int):
    a = x + 1.0
    b = x + 2.0
    out = x
    while k > 0 and len((a if x.sum() > 0 else b).shape) < 3:
        k = k - 1
        out = b
        b = b[None].double()
    return out, k


def inputs():
    return [(torch.tensor(row, requires_grad=True), 5) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
