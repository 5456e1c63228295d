import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, q: Tensor):
    a = q + q
    setattr(q, "data", q.data[None].double())
    if x.sum() > 0:
        y = a + a
    else:
        y = q + q
    return y


def inputs():
    return [(torch.tensor([1.0, 2]), torch.tensor([1.0, 2])), (torch.tensor([-1.0, 2]), torch.tensor([1.0, 2]))]
