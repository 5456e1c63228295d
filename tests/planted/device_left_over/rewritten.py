import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    """Shapes first."""
    return torch.zeros(x.shape, device="meta")
