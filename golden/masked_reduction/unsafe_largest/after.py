import torch


@torch.compile
def f(x: torch.Tensor):
    y = x.float()
    return torch.where(y == y, y, float("-inf")).max() + torch.where(y > -100, y, float("inf")).amin()
