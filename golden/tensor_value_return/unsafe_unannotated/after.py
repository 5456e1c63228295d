import torch


@torch.compile
def f(x, scale):
    return torch.where(x.mean() > 0, x * scale, x * 2.0)
