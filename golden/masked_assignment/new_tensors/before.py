import torch


@torch.compile
def f(x: torch.Tensor):
    mask = x > 0
    y = x.double().clone()
    z = y * 3
    y[mask] = z[mask]  # a comment
    y[x < 0] *= 2
    y[mask] = (y[mask] * y[mask]).clamp(max=50.0)
    with torch.no_grad():
        z[~mask] += 1.5
    w = torch.zeros_like(y)
    w[mask] = -z[mask].abs()
    whole = (x * 4).nan_to_num().long()
    ones = torch.ones_like(whole)
    ones[whole != 0] = 12 // whole[whole != 0]
    row = w[..., 0]
    w[w < -1] = w[w < -1] * w[w < -1]  # seen through the row, too
    return y, z, w, row + 1, ones
