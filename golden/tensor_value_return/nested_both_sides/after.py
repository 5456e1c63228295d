import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return torch.where(x.prod() > 0, x * 2.0, x + 2.0)
    else:
        return torch.where(x.prod() < 0, x * 3.0, x + 1.0)
