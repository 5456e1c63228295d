import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, c: Tensor):
    c = c.to(torch.uint8)
    if c.max().item() > 300:
        y = x + 1.0
    else:
        y = x + 2.0
    return y


def inputs():
    return [
        (torch.tensor(row, requires_grad=True), torch.tensor([255, 1])) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])
    ]
