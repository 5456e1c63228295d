import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    if x.numel() > 0:
        y = torch.where(x.max() > 3, x * 2.0, y)
    return y
