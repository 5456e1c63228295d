import torch


@torch.compile
def f(x: torch.Tensor):
    mask = x > 0
    whole = x.long()
    bits = x.bool()
    total = whole[mask].sum()
    doubled = (whole[mask] * 2 + whole[mask].abs()).sum()
    selected = torch.masked_select(whole, mask).prod()
    count = bits[~mask].sum()
    # Every spelling counts.
    return total, doubled + selected, count, whole[x < 0].any(), torch.all(whole[mask]), whole[mask].count_nonzero()
