import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x.float() * 2.0
    if flag and torch.isinf(y).any():
        y = y.clamp(max=4.0)
    if flag and torch.isnan(y).any():
        y = y + 1.0
    return y
