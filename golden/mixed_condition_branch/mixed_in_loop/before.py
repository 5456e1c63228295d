import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x + 1.0
    for step in range(3):
        if step > 0 and y.sum() > 4:
            y = y * 0.5
    return y
