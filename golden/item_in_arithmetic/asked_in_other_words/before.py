import numpy
import torch


@torch.compile
def f(x: torch.Tensor, starts: torch.Tensor, counts: torch.Tensor):
    y = x.float()
    for i in range(2):
        first = int(starts[1 - i].item())
        y = y + x[first : first + int(counts[1 - i])].sum()
    for _ in range(y.argmax()):
        y = y + 1.0
    total = 0.0
    total += y.mean().item()
    scale = float(numpy.mean(x.numpy()))
    return y, bool(y.sum() > 0), not y.any(), 1.0 in y, all(v > 0 for v in y), y[: (y > 0).sum()], total, scale
