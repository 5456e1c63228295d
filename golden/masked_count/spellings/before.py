import torch


@torch.compile
def f(x: torch.Tensor):
    mask = x > 0
    y = x.double()
    a = y * len(x[mask])
    b = y - x[mask].numel()
    c = y - x[mask].shape[0]
    d = y + mask.nonzero().size(0)
    e = torch.nonzero(x).shape[0] * y
    found = len(torch.where(mask)[0])
    g = y - max(found, 1) + (found + 1) * y
    rows = torch.argwhere(x)
    if len(rows) == 0:
        g = g + 1
    return a, b, c, d, e, g, y * mask.nonzero(as_tuple=True)[0].numel()
