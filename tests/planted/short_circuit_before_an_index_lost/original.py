import torch


def f(x: torch.Tensor) -> torch.Tensor:
    flat = x.reshape(-1)
    if flat.numel() > 0 and flat[0] > 0:
        return x * 2
    return x + 1
