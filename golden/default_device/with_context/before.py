from torch import compile, get_default_device, ones

import torch


@compile
def f(x):
    x = x * 2.0
    device = torch.get_default_device()
    y = x + ones(2, device=device)
    return y, y.device == get_default_device()
