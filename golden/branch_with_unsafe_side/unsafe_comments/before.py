import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    # Logarithms need positive numbers.
    if (y > 0).all():  # all of them
        z = y.log()  # natural
    else:
        # As it is.
        z = y * 2.0
    return z
