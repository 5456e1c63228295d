import torch


@torch.compile
def f(x: torch.Tensor):
    mask = x > 0
    y = x.double().clone()
    z = y * 3
    # a comment
    y.copy_(torch.where(mask, z, y))
    y.copy_(torch.where(x < 0, y * 2, y))
    y[mask] = (y[mask] * y[mask]).clamp(max=50.0)
    with torch.no_grad():
        z[~mask] += 1.5
    w = torch.zeros_like(y)
    w[mask] = -z[mask].abs()
    whole = (x * 4).nan_to_num().long()
    ones = torch.ones_like(whole)
    ones.copy_(torch.where(whole != 0, 12 // torch.where(whole != 0, whole, 1), ones))
    row = w[..., 0]
    # seen through the row, too
    w.copy_(torch.where(w < -1, torch.where(w < -1, w, 1) * torch.where(w < -1, w, 1), w))
    return y, z, w, row + 1, ones
