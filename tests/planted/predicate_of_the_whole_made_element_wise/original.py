import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    """Pull everything into range once something has left it."""
    if (x > 2).any():
        x = x * 0.5
    return x + 0
