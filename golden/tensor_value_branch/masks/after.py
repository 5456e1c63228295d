import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    mask = x > 0
    kept = torch.where(mask.any(), mask, torch.ones_like(mask))
    return torch.where(kept, x, x - 1.0)
