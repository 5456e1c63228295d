import torch

count = 0


def f(x: torch.Tensor) -> torch.Tensor:
    global count
    if x.sum() > 0:
        count += 1
        y = x * 2
    else:
        y = x * 3
    return y
