import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    mask = torch.isnan(x)
    x = torch.masked_fill(x, mask, 0.0)
    return x * 2.0
