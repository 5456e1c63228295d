import torch


@torch.compile
def f(x: torch.Tensor):
    y = x.float()
    n = (y > 0).sum()
    ids = (y > 1).long()
    return y * n + ids * ids.max(), y - (n + 1), ids + ids.sum() > n
