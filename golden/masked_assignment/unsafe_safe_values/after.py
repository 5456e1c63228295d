import torch


@torch.compile
def f(x: torch.Tensor):
    mask = x > 0
    y = torch.zeros_like(x)
    y.copy_(torch.where(mask, (-1 / torch.where(mask, x, 1)).exp(), y))
    z = torch.ones_like(x)
    z.copy_(torch.where(mask, torch.log(torch.where(mask, x, 1)) + torch.where(mask, x, 1).sqrt(), z))
    return y, z
