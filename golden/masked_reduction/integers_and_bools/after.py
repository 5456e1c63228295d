import torch


@torch.compile
def f(x: torch.Tensor):
    mask = x > 0
    whole = x.long()
    bits = x.bool()
    total = torch.where(mask, whole, 0).sum()
    doubled = torch.where(mask, whole * 2 + whole.abs(), 0).sum()
    selected = torch.where(mask, whole, 1).prod()
    count = torch.where(~mask, bits, 0).sum()
    # Every spelling counts.
    return total, doubled + selected, count, torch.where(x < 0, whole, 0).any(), torch.where(mask, whole, 1).all(), torch.where(mask, whole, 0).count_nonzero()
