import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    total = x.sum()
    return torch.where(total != 0, x / total, x * 2)
