import torch


def f(x: torch.Tensor) -> torch.Tensor:
    bad = torch.isnan(x).any()
    y = x * 2
    print("all numbers")
    if bad:
        raise ValueError("not a number")
    return y
