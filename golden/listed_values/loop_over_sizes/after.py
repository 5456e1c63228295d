import torch


def levels(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor):
    height, width = z.shape
    known = [(y.shape[0], y.size(1))]
    known.append((height, width))
    shapes = torch.tensor(known, dtype=torch.int64)
    longest = shapes.prod(1).max()
    found = []
    start = 0
    for level, (height, width) in enumerate(known):  # each level
        part = x[:, start : start + height * width].view(x.shape[0], height, width)
        found.append((part.double() * height - width).sum() * 2.0**level)
        start += height * width
    return torch.stack(found) + longest, x[:, start:].sum()


@torch.compile
def f(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor):
    found, rest = levels(x.sin(), y, z)
    return found.cos(), rest * 2.0
