import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, flag: bool, n: int):
    if flag:
        y = x
        for i in range(3):
            if i == n:
                break
        else:
            return x
    else:
        y = x * 1.0
    if x.sum() > 0:
        y = x * 2.0
    return y


def inputs():
    return [(-torch.ones(2), True, 1), (torch.ones(2, dtype=torch.int32).neg(), True, 1)]
