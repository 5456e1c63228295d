import torch


def levels(x: torch.Tensor, shapes, scale: float = 1.0):
    """The levels of a flat tensor, one after the other."""
    found = []
    start = 0
    for height, width in shapes:
        found.append(x[start : start + height * width].view(height, width).sum() * scale)
        start += height * width
    return torch.stack(found) / len(shapes)


@torch.compile
def f(x: torch.Tensor, images: list[torch.Tensor], y: torch.Tensor):
    sizes = [(y.shape[0], y.shape[1])]
    rows, columns = y.shape
    sizes.append((rows, 2 * columns))
    shapes = torch.as_tensor(sizes, device=x.device)
    return levels(x, scale=0.5, shapes=sizes), shapes * len(sizes)
