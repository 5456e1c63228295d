import torch


@torch.compile
def f(x: torch.Tensor):
    return torch.where(x > 0, x, 0).sum(), (torch.where(x < 0, x, 0).sum() / (x < 0).sum()) * 2, torch.where(x > 0, torch.where(x > 0, x, 1).sqrt(), 0).sum() / (x > 0).sum(), torch.where(x != 0, 1 / torch.where(x != 0, x, 1), 0).sum()
