import torch


@torch.no_grad()
@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    x = x.float()
    total = x.sum()
    if total > 0:
        return x * total
    y = x + total
    return y * total
