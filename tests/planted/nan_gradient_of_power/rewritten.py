import torch


def f(x: torch.Tensor) -> torch.Tensor:
    """Gamma correction of what is brighter than black."""
    return torch.where((x > 0).all(), x**0.25, x * 12.92)
