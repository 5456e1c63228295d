import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    # Logarithms need positive numbers.
    # all of them
    # natural
    # As it is.
    z = torch.cond((y > 0).all(), lambda: y.log(), lambda: y * 2.0)
    return z
