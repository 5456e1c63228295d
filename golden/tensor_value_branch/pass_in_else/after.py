import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    # keep
    y = torch.where(x.sum() > 0, y * 2.0, y)
    return y
