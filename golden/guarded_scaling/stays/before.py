import torch


@torch.compile
def f(x: torch.Tensor, limit: float):
    y = x.float() * 1.0
    if y.norm() > limit:
        y.mul_(0.1)
    if y.sum() > limit:
        scale = y.sum()
        y.mul_(scale)
    else:
        y.add_(1.0)
    n = (x > 0).long()
    if n.sum() > 2:
        n.mul_(n.sum())
    if y.sum() > 3:
        factor = y.mean()
        y.mul_(factor)
    else:
        factor = y
    if y.amax() > 4:
        factor = y.amax()
        y.mul_(factor)
    return y, n, factor
