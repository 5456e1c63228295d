import torch


def f(x: torch.Tensor) -> torch.Tensor:
    if torch.isnan(x).any():
        raise SystemExit(3)
    return x * 2
