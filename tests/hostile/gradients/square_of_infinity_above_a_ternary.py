import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    a = x.square()
    a = torch.neg(x) if x.sum() != 0 else a + a
    return a


def inputs():
    return [(torch.tensor([float("inf"), 1.0], requires_grad=True),)]
