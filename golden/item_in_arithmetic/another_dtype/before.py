import torch


@torch.compile
def f(x: torch.Tensor):
    h, b, s = x.half(), x.bool(), x.float().sum().item()
    return h * s, b * x.double().max().item(), s / x.float(), s**2 * x.float()
