import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, flag: bool, g: list):
    if x.sum() > 0 and flag and x.max() > 2:
        y = x + 1.0
    else:
        y = x + 2.0
    return y


def inputs():
    return [(torch.tensor([1.0, 2.0]), True, []), (torch.tensor([]), False, []), (torch.tensor([]), True, [])]
