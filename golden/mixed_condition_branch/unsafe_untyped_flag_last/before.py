import torch


@torch.compile
def f(x: torch.Tensor, flag):
    if x.sum() > 0 and flag:
        y = x * 2.0
    else:
        y = x + 1.0
    return y
