import torch


@torch.compile
def f(x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    y = torch.where(x.sum() > 0, x + z, x - 1.0)
    return y
