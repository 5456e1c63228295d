import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor, count: int) -> torch.Tensor:
    y = x.long() + 1
    z = torch.where((y > count).all(), y // count, y * 2)
    return z
