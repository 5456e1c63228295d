import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    other = y
    mask = torch.isnan(y)
    if mask.any():
        y = y.masked_fill(mask, 0.0)
    y.add_(1.0)
    return other
