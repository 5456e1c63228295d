import torch


@torch.compile
def f(x: torch.Tensor):
    y = x.double()
    total, n = y.sum(), (y > 3).sum()
    s = total.item()
    k = n.item()
    total.add_(1.0)
    n += 3
    return y * s + total, y * k + n, y
