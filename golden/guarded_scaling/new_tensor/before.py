import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor, limit: float):
    y = x.float() * 1.0
    norm = y.norm()
    if norm > limit:  # too long
        y.mul_(limit / norm)
    # shorter, for good
    z = x.float() + 1.0
    if not norm > 0.5:
        part = norm + 1.0
        z /= part
    return y, z
