import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if torch.isnan(x).any() or flag or torch.isinf(x).any():
        y = x * 2.0
    else:
        y = x + 1.0
    return y
