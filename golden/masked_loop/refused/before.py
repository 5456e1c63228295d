import torch


@torch.compile
def f(x: torch.Tensor, n: torch.Tensor):
    for i in range(n):
        x = x + i
    for i in range(4):
        x = x * 2
        if x.sum() > 10:
            break
    for j in range(4):
        x = x - 1
        if x.sum() > 10:
            x = x * 3
            break
    return x, i
