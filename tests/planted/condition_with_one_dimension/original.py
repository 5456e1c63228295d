import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    total = x.sum()
    if total.reshape(1) > 0:
        y = total * 2
    else:
        y = total * 3
    return y
