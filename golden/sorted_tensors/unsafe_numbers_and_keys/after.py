import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor):
    x = x * 2.0
    low, *rest = [*torch.stack([x.sum(), x.amax(), x.mean()]).sort(stable=True).values.unbind()]
    by_sum = [*torch.stack([x, x + 1.0, -x])[torch.stack([t.sum() for t in [x, x + 1.0, -x]]).argsort(stable=True, descending=True)].unbind()]
    return low, rest, by_sum, torch.stack([x, -x])[torch.stack([t.amax() for t in [x, -x]]).argsort(stable=True, descending=True)[:1]][0], torch.stack([x, -x])[torch.stack([(v > 0).sum() for v in [x, -x]]).argsort(stable=True)[:1]][0]
