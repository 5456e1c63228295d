import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    z = x + 1.0
    condition = x.sum() > 0
    z_true = x * 2.0
    z, y = torch.where(condition, z_true, x * 3.0), torch.where(condition, z_true + 1.0, z + 1.0)
    return z + y * 2.0
