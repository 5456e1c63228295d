import torch


@torch.compile
def f(x: torch.Tensor):
    y = x * 2
    row = y[0]
    y.copy_(torch.where(y > 1, y * 2, y))
    x.detach()[x > 100] = 0.0
    return y, row + 1


@torch.compile
def g(x: torch.Tensor):
    x.copy_(torch.where(x < 0, x - 1, x))
    return x


def both(x: torch.Tensor):
    h = x.detach().clone()
    return f(x), g(h), h
