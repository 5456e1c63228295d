import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, w: Tensor, keep: list):
    if x.sum() > 0:
        x = x + 2.0
        keep.append(w + 1.0)
    else:
        x = x + 2.0
        keep.append(w + 2.0)
    return x


def inputs():
    return [(torch.tensor([-1.0, -0.5]), torch.tensor([1.0]), []), (torch.tensor([1.0, -0.5]), torch.tensor([1.0]), [])]
