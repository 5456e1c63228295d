import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, keep: list):
    a = torch.zeros_like(x)

    @(lambda function: a.add_(x))
    def d():
        pass

    if x.sum() > 0:
        y = a + a
    else:
        y = torch.ones_like(x)
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), []) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
