import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        if x.dim() == 1:
            y = x * 2.0
        else:
            y = x * 3.0
    else:
        y = x + 1.0
    return y
