import torch


def stored(x: torch.Tensor):
    out = {}
    for _ in range(2):
        out[tuple(x.shape)] = x  # by size
        x = torch.relu(x)[..., ::2]
    return out


def looked_up(found: dict, y: torch.Tensor):
    if tuple(y.shape) in found:
        y = y + found[tuple(y.shape)]
    return y, found.get(tuple(y.shape), y), len(found)


@torch.compile
def f(x: torch.Tensor, y: torch.Tensor):
    return looked_up(stored(x), y)
