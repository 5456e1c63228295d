import torch


@torch.compile
def f(x: torch.Tensor):
    y = x.double()
    s, y = y.sum(), y + 1.0
    number: float = s.detach().to(torch.float64, copy=True)
    first = y.flatten()[:1].sum().detach().double()
    y *= number
    return y + (abs(first) - 3.0 * number), y
