import torch


@torch.no_grad()
@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    x = x.float()
    total = x.sum()
    y = x + total
    return torch.where(total > 0, x * total, y * total)
