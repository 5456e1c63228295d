import torch
from torch import Tensor


@torch.compile
@torch.inference_mode()
def f(x: Tensor, n: Tensor):
    if x.sum() > 0:
        y = x // n
    else:
        y = x // 2
    return y


def inputs():
    return [(torch.tensor([1, 2]), torch.tensor(2)), (torch.tensor([-1, 2]), torch.tensor(2))]
