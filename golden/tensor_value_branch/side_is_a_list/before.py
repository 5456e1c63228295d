import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        parts = [x, x]
    else:
        parts = [x]
    return torch.stack(parts).sum()
