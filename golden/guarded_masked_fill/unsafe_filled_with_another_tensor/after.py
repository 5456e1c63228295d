import torch


@torch.compile
def f(x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    mask = torch.isnan(y)
    y = torch.where(mask, other, y)
    return y
