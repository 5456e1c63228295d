import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    while (total := x.sum()) > 1.0:
        x = x * 0.5
    return x + total
