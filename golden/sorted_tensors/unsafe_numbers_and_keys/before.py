import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor):
    x = x * 2.0
    low, *rest = sorted([x.sum(), x.amax(), x.mean()])
    by_sum = sorted((x, x + 1.0, -x), key=lambda t: t.sum(), reverse=True)
    return low, rest, by_sum, max([x, -x], key=lambda t: t.amax()), min(x, -x, key=lambda v: (v > 0).sum())
