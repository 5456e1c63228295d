import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() * 1.0
    if x.sum() > 0:
        a = y
    else:
        a = y + 2.0
    return torch.relu(a) - a.sum()
