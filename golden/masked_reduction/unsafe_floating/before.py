import torch


@torch.compile
def f(x: torch.Tensor):
    return x[x > 0].sum(), x[x < 0].mean() * 2, torch.mean(x[x > 0].sqrt()), (1 / x[x != 0]).sum()
