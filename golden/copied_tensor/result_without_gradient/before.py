import copy
from copy import deepcopy

import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor):
    scaled = x * 2.0
    y = copy.deepcopy(scaled)  # written below
    y.add_(1.0)
    mask = (x > 0)
    kept = deepcopy(mask & (x < 2.0))
    zeros = [copy.deepcopy(torch.zeros(3))]
    return scaled, y, kept, zeros[0] + x
