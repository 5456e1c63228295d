import math
from math import exp

import torch


@torch.compile
def f(x: torch.Tensor):
    y = x.float()
    norm = math.sqrt(y.abs().sum().item())
    return y * (norm + 0.5), y - exp(y.detach().mean())
