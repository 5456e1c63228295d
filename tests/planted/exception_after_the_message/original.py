import torch


def f(x: torch.Tensor) -> torch.Tensor:
    if torch.isnan(x).any():
        raise ValueError("not a number")
    print("all numbers")
    return x * 2
