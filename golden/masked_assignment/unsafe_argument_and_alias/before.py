import torch


@torch.compile
def f(x: torch.Tensor):
    y = x * 2
    row = y[0]
    y[y > 1] *= 2
    x.detach()[x > 100] = 0.0
    return y, row + 1


@torch.compile
def g(x: torch.Tensor):
    x[x < 0] -= 1
    return x


def both(x: torch.Tensor):
    h = x.detach().clone()
    return f(x), g(h), h
