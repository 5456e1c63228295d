import torch


@torch.compile
def f(x, scale: torch.Tensor):
    ratio = 1.0 / (x.abs().sum().item() + 1e-6)
    return x * ratio, 2.5 / scale.item() * x
