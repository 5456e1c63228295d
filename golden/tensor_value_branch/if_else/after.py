import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    # The sign of the sum decides.
    # usual
    # rare
    y = torch.where(x.sum() > 0, x * 2.0, x + 1.0)
    return y
