import torch
import torch.nn.functional as F


@torch.compile
def f(x: torch.Tensor, counts: torch.Tensor):
    places = torch.where(x > 0)[0] + 1
    distinct = torch.unique(x)
    labels = F.one_hot(counts)
    bins = torch.bincount(counts, minlength=2)
    repeated = x.repeat_interleave(counts.long()) + x.repeat_interleave(2).sum()
    parts = [part.sum() for part in x.split(counts.tolist())]
    kept = x[x > 0]
    return places, distinct, labels, bins, repeated, parts, kept, F.one_hot(counts, 9), torch.where(x > 0, x, 0)
