import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    """Scores in single precision where they might overflow."""
    return torch.where(x.abs().amax() > 100, x.float() * 0.5, x * 0.5)
