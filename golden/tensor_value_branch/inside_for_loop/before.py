import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    for step in range(3):
        if y.sum() > 4.0:
            y = y - 2.0
        else:
            y = y * 2.0
    return y
