import math

import torch


@torch.compile
def f(x: torch.Tensor):
    y = x.float()
    return y * math.gamma(y.sum().item()), y[: math.floor(y.sum().item())], math.exp(y.sum().item())
