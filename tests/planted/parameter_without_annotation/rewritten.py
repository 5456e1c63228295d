import torch


@torch.compile
def f(x, limit):
    return torch.where(x.abs() > limit, x * 0.5, x * 1)
