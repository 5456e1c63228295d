import torch


@torch.compile
def f(x: torch.Tensor, down: bool):
    a = sorted([x.sum(), x.mean()], reverse=down)
    b = sorted([x.sum(), torch.rand(())])
    c = max(x.sum(), x.mean())
    d = sorted([x, -x], key=lambda t: t.shape[0])
    return a, b, c, d, sorted([3, 1])
