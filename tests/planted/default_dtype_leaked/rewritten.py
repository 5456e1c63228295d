import torch


def f(x: torch.Tensor) -> torch.Tensor:
    torch.set_default_dtype(torch.float64)
    return x + torch.zeros(1)
