import torch


@torch.compile
def f(x: torch.Tensor):
    mask = x > 0
    y = torch.zeros_like(x)
    y[mask] = (-1 / x[mask]).exp()
    z = torch.ones_like(x)
    z[mask] = torch.log(x[mask]) + x[mask].sqrt()
    return y, z
