import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    z = x + 1.0
    condition = z.sum() > 3.0
    z_true = z * 2.0
    z, y = torch.where(condition, z_true, z), torch.where(condition, z_true + 1.0, z * 3.0)
    return z + y
