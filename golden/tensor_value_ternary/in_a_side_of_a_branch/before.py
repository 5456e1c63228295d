import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.shape[0] > 2:
        y = x * 2.0 if x.sum() > 0 else x + 1.0
    else:
        y = x * 3.0
    return y
