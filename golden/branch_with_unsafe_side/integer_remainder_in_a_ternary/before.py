import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.long() + 1
    other = y - 1
    return y % other if other.all() else y * 2
