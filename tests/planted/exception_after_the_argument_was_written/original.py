import torch


def f(x: torch.Tensor) -> torch.Tensor:
    if torch.isnan(x).any():
        raise ValueError("not a number")
    with torch.no_grad():
        x.clamp_(max=1)
    return x
