import torch


seen = []


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    if x.sum() > 0:
        seen.append(x * 2.0)
    else:
        y = x * 3.0
    return y
