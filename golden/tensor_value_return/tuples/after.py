import torch


@torch.compile
def f(x: torch.Tensor):
    condition = x.sum() > 0
    return torch.where(condition, x * 2.0, x * 3.0), torch.where(condition, x + 1.0, x + 2.0)
