import torch


@torch.compile
def f(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    if mask.any():
        y = y.masked_fill(mask, 0.0)
    return y
