import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    z = x.float()
    total = z.sum()
    y = torch.where(total > 0, z - total, z + total)
    return y
