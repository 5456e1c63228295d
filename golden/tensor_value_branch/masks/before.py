import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    mask = x > 0
    if mask.any():
        kept = mask
    else:
        kept = torch.ones_like(mask)
    return torch.where(kept, x, x - 1.0)
