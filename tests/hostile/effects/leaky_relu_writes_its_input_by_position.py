import torch
import torch.nn.functional as F
from torch import Tensor


@torch.compile
def f(x: Tensor):
    a = x * 2.0
    b = x * 3.0
    if x.sum() > 0:
        y = F.leaky_relu(a, 0.1, True)
    else:
        y = F.leaky_relu(b, 0.1, True)
    return y, a, b


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
