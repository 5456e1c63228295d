import torch


@torch.compile
def f(x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    y = x + 1.0
    if mask is None or (mask > 0).any():
        y = y * 2.0
    return y
