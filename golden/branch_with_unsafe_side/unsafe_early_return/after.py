import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    return torch.cond(y.sum() > 0, lambda: y.log(), lambda: y * 2.0)
