import torch


def f(x: torch.Tensor) -> torch.Tensor:
    """Gamma correction of what is brighter than black."""
    return x**0.25 if (x > 0).all() else x * 12.92
