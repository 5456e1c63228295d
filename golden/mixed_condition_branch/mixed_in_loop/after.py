import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x + 1.0
    for step in range(3):
        if step > 0:
            y = torch.where(y.sum() > 4, y * 0.5, y)
    return y
