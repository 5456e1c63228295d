import torch


@torch.compile
def f(x: torch.Tensor):
    mask = x > 0
    y = x.double()
    a = y * torch.count_nonzero(mask)
    b = y - torch.count_nonzero(mask)
    c = y - torch.count_nonzero(mask)
    d = y + torch.count_nonzero(mask)
    e = torch.count_nonzero(x) * y
    found = torch.count_nonzero(mask)
    g = y - found.clamp(min=1) + (found + 1) * y
    g = torch.where(torch.count_nonzero(x) == 0, g + 1, g)
    return a, b, c, d, e, g, y * torch.count_nonzero(mask)
