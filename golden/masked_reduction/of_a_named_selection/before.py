import torch


@torch.compile
def f(x: torch.Tensor):
    picked = (x * 2).long()[x > 1]  # several uses
    total = picked.sum()
    if picked.numel() > 2:
        total = total + 1
    return total
