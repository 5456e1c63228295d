import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    for step in range(3):
        total = y.sum()
        y = torch.where(total > 5.0, y * 0.5, y + 1.0)
    return y
