import torch


@torch.compile
def f(x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    y = x + 1.0
    if mask is not None:
        y = torch.where((mask > 0).any(), y * 2.0, y)
    return y
