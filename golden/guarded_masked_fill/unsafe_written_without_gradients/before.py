import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    mask = torch.isnan(y)
    if mask.any():  # rarely
        y[mask] = 0.0
    z = y * 2.0
    if torch.any(z > 3.0):
        z.masked_fill_(z > 3.0, value=3)
    w = z + 1.0
    if (w == 1.0).sum() > 0:
        w = w.masked_fill_(w == 1.0, float("inf"))
    u = z - 1.0
    if (u != u).any():
        u[u != u] = z.sum()
    return y + w + u
