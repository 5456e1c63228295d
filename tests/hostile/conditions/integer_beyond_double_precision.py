import torch
from torch import Tensor


@torch.compile
def f(n: Tensor, x: Tensor):
    n = n.long() + 0
    if n.sum().item() > 9007199254740992:
        y = x + 1.0
    else:
        y = x + 2.0
    return y


def inputs():
    return [(torch.tensor([9007199254740993]), torch.tensor([1.0]))]
