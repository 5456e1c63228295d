import torch


def f(x: torch.Tensor) -> torch.Tensor:
    """The element before the largest one, seen as a ring."""
    flat = x.reshape(-1)
    before = flat.argmax() - 1
    return flat.index_select(0, before.reshape(1))[0] * 1
