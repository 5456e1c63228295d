import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    z = torch.cond(y.sum() > 0, lambda: y.log(), lambda: y * 2.0)
    return z
