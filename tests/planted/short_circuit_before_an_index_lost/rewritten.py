import torch


def f(x: torch.Tensor) -> torch.Tensor:
    flat = x.reshape(-1)
    return torch.where((flat[0] > 0) & (flat.numel() > 0), x * 2, x + 1)
