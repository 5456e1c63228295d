import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        if x.prod() > 0:
            return x * 2.0
        else:
            return x + 2.0
    else:
        if x.prod() < 0:
            return x * 3.0
        return x + 1.0
