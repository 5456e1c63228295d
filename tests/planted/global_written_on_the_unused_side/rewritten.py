import torch

count = 0


def f(x: torch.Tensor) -> torch.Tensor:
    global count
    count += 1
    return torch.where(x.sum() > 0, x * 2, x * 3)
