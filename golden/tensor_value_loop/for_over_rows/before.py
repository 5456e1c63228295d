import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    total = x.sum()
    for row in x:
        total = total + row
    return total
