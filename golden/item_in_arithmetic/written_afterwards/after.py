import torch


@torch.compile
def f(x: torch.Tensor):
    y = x.double()
    total, n = y.sum(), (y > 3).sum()
    s = total.detach().to(torch.float64, copy=True)
    k = n.to(torch.int64, copy=True)
    total.add_(1.0)
    n += 3
    return y * s + total, y * k + n, y
