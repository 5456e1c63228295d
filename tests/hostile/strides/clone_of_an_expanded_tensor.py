import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    if x.sum() > 0:
        y = x.clone()
    else:
        y = x + x
    return y


def inputs():
    return [
        (torch.ones(2, 1).expand(2, 3).t(),),
        (-torch.ones(2, 1).expand(2, 3).t(),),
        (torch.ones(3, 1, 2).expand(3, 4, 2).permute(1, 0, 2),),
        (-torch.ones(3, 1, 2).expand(3, 4, 2).permute(1, 2, 0),),
        (torch.ones(6, 4)[::2, ::2].t(),),
        (-torch.ones(6, 4)[::2, ::2].t(),),
    ]
