import torch


@torch.compile
def f(x: torch.Tensor):
    y = x.double()
    first = y[0].reshape(()).detach().to(torch.float64, copy=True)
    y[0] = 7.0
    return y * first, y
