import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if torch.isnan(x).any():
        y = torch.zeros_like(x)
    else:
        y = torch.ones_like(x)
    return y * x
