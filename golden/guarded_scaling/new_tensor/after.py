import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor, limit: float):
    y = x.float() * 1.0
    norm = y.norm()
    # too long
    y.mul_(torch.where(norm > limit, limit / norm, 1))
    # shorter, for good
    z = x.float() + 1.0
    part = torch.where(norm > 0.5, 1, norm + 1.0)
    z /= part
    return y, z
