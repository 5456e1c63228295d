import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    z = x.float()
    total = z.sum()
    moved = z - total
    y = torch.where(total > 0, moved + moved, z + total)
    return y
