import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    # The sign of the sum decides.
    if x.sum() > 0:  # usual
        y = x * 2.0
    else:
        y = x + 1.0  # rare
    return y
