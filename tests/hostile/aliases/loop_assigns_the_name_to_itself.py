import torch
from torch import Tensor


@torch.compile
@torch.no_grad()
def f(x: Tensor, w: Tensor):
    for i in range(2):
        if w.mean().item() > 0.5:
            pass
        else:
            x = x
    return x


def inputs():
    return [(torch.ones(2), torch.ones(2)), (torch.ones(2), -torch.ones(2))]
