import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x * 2.0
    y = x + 1.0
    y = y * 3.0
    # The rest.
    return y + 0.5
