import torch


def f(x: torch.Tensor) -> torch.Tensor:
    y = x * 1
    step = 0
    while step < int((x > 1).sum()):
        y = y * 2
        step += 1
    return y
