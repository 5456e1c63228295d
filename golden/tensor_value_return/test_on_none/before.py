import torch


@torch.compile
def f(x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
    if mask is None:
        return x * 2.0
    return x * mask
