import torch


@torch.compile
def f(x: torch.Tensor, shapes: list[tuple[int, int]]) -> tuple[torch.Tensor, int]:
    sizes = torch.tensor(shapes, dtype=torch.int64)
    found = []
    start = 0
    for level, (height, width) in enumerate(sizes):  # each level
        part = x[:, start : (start + height * width)].view(x.shape[0], height, width)
        step = torch.linspace(0.5, height - 0.5, height, dtype=torch.float32)
        found.append((part * step[:, None] * height - width).sum() * 2.0**level)
        start += height * width
    return torch.stack(found), x[:, start:].sum()
