import torch


@torch.compile
def f(x: torch.Tensor):
    y = x.float()
    n = (y > 0).sum().item()
    ids = (y > 1).long()
    return y * n + ids * int(ids.max()), y - (n + 1), ids + ids.sum().item() > n
