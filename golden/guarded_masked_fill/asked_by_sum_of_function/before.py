import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    mask = torch.isnan(y)
    if torch.sum(mask) != 0:
        y = torch.where(mask, 0.0, y)
    return y
