import torch


def f(x: torch.Tensor) -> torch.Tensor:
    """The element before the largest one, seen as a ring."""
    flat = x.reshape(-1)
    before = int(flat.argmax()) - 1
    return flat[before] * 1
