import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    mask = torch.isnan(x)
    if mask.any():
        x = torch.masked_fill(x, mask, 0.0)
    return x * 2.0
