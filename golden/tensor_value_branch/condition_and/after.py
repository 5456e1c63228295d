import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    z = x.float()
    y = torch.where(torch.logical_and(z.sum() > 0, z.sum() < 5.0), x * 2.0, x + 1.0)
    return y
