import torch


@torch.compile
def f(x: torch.Tensor, other: torch.Tensor, index: torch.Tensor):
    mask = x > 0
    spread = x[mask].std()
    mixed = x[mask].softmax(0).sum()
    two_masks = (x[x > 0] + other[other > 0]).sum()
    rows = other[mask].sum()
    kept = x[mask]
    total = kept.sum()
    gathered = x[index].sum()
    return spread, mixed, two_masks, rows, total, kept, gathered
