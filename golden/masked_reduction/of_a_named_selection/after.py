import torch


@torch.compile
def f(x: torch.Tensor):
    # several uses
    total = torch.where(x > 1, (x * 2).long(), 0).sum()
    total = torch.where(torch.count_nonzero(x > 1) > 2, total + 1, total)
    return total
