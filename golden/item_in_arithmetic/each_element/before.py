import torch


@torch.compile
def f(x: torch.Tensor):
    x = x.reshape(-1)
    if all(v > 0 for v in x):
        y = x + 1
    else:
        y = x - 1
    if not any(x):
        y = y * 2
    else:
        y = y * 3
    return y
