import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, w: Tensor):
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        if x.sum() > 0:
            y = x @ w
        else:
            y = x @ w + 0
    return y


def inputs():
    return [(torch.ones(2, 2), torch.ones(2, 2)), (-torch.ones(2, 2), torch.ones(2, 2))]
