import torch


@torch.compile
def f(x: torch.Tensor):
    y = x.double()
    s, y = y.sum(), y + 1.0
    number: float = float(s.detach())
    first = y.flatten()[:1].sum().item()
    y *= number
    return y + (abs(first) - 3.0 * number), y
