import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    if x.sum() > 0:
        y = x.clone(memory_format=torch.contiguous_format)
    else:
        y = x + x
    return y


def inputs():
    return [(torch.ones(2, 3).t(),), (-torch.ones(2, 3).t(),)]
