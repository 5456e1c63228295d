import torch


@torch.compile
def f(x: torch.Tensor, scale: float) -> torch.Tensor:
    # The second value compiles once more, for all later values: multiplying always could change an integer's dtype.
    return x + 1 if scale == 1 else (x + 1) * scale
