import torch


@torch.compile
def f(x: torch.Tensor, other: torch.Tensor):
    y = x.double().clone()
    mask = x > 0
    y[mask] = y[mask].cumsum(0)
    y[mask] = x.long()[mask]
    y[mask] = torch.rand(3)
    y[mask] = y[mask] + torch.rand_like(y[mask])
    y[mask] = other[x < 0]
    y[mask] = other[mask]
    y[mask] = 0.0
    return y
