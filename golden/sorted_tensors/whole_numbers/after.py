import torch


@torch.compile
def f(x: torch.Tensor, y: torch.Tensor):
    x = x + 1.0
    counts = [*torch.stack([(x > 0).sum(), (y > x).sum()]).sort(stable=True, descending=True).values.unbind()]
    return counts[0] * y, counts[1]
