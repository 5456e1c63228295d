import torch


@torch.compile
def f(x, scale: torch.Tensor):
    ratio = 1.0 / (x.abs().sum().detach().double() + 1e-6)
    return x * ratio.to(x.dtype), (torch.tensor(2.5, dtype=torch.float64) / scale.reshape(()).detach().to(torch.float64, copy=True)).to(x.dtype) * x
