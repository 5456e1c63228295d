import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    total = y.sum()
    y = torch.cond(total > 0, lambda: y / y.sum(), lambda: y.clone())
    return y
