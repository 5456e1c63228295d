import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if not x.sum() > -100.0:
        raise ValueError("low")
    else:
        y = x + 1.0
    return y
