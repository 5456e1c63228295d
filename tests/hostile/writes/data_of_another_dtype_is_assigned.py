import torch
from torch import Tensor


@torch.compile
@torch.no_grad()
def f(x: Tensor, q: Tensor):
    a = q + q
    q.data = q.data.double()
    if x.sum() > 0:
        y = a + a
    else:
        y = q + q
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), torch.ones(3)) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
