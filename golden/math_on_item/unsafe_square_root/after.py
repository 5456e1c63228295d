import math
from math import exp

import torch


@torch.compile
def f(x: torch.Tensor):
    y = x.float()
    norm = torch.sqrt(y.abs().sum().detach().double())
    return y * ((norm + 0.5).to(y.dtype)), y - torch.exp(y.detach().mean().detach().double()).to(y.dtype)
