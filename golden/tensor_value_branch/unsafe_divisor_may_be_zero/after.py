import torch


@torch.no_grad()
@torch.compile
def f(x: torch.Tensor, n: int) -> torch.Tensor:
    y = torch.where(x.sum() > 0, x + 1 // n, x + 1)
    return y
