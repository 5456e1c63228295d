import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, m: Tensor, flag: bool):
    s = m if flag else 2.0
    if x.sum() > 0:
        y = x + s
    else:
        y = x.clone()
    return y


def inputs():
    return [(torch.tensor([-1.0, -2.0]), torch.tensor([[1.0], [2.0]], dtype=torch.float64), True)]
