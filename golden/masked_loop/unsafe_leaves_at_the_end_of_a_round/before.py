import torch


@torch.compile
def f(x: torch.Tensor):
    y = x + 0.5
    for i in range(5):
        # grow
        x = x * 2
        y = y + i
        if x.sum() > 10:
            break
    return x, y
