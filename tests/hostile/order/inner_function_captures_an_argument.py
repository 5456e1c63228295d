import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, w: Tensor):
    def inner():
        if x.sum() > 0:
            y = w + 1.0
        else:
            y = w + 2.0
        return y

    return inner()


def inputs():
    return [(torch.tensor(row, requires_grad=True), torch.ones(2)) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
