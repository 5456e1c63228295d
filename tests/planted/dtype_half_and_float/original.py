import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    """Scores in single precision where they might overflow."""
    if x.abs().amax() > 100:
        y = x.float() * 0.5
    else:
        y = x * 0.5
    return y
