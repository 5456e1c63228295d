import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    mask = torch.isnan(y)
    y = y.masked_fill_(mask, 0.0)
    return y
