import torch
from torch import Tensor


def helper(t):
    t.unsqueeze_(0)


@torch.compile
def f(x: Tensor, q: Tensor):
    a = q + q
    helper(q)
    if x.sum() > 0:
        y = a + a
    else:
        y = q + q
    return y


def inputs():
    return [(torch.tensor([1.0, 2]), torch.tensor([1.0, 2])), (torch.tensor([-1.0, 2]), torch.tensor([1.0, 2]))]
