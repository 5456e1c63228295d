import torch


@torch.compile
def f(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    if mask.any():
        x = x.masked_fill(mask, 0.0)
    return x * 2.0
