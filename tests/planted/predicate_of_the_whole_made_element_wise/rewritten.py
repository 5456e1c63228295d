import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    """Pull everything into range once something has left it."""
    x = torch.where(x > 2, x * 0.5, x)
    return x + 0
