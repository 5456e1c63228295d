import torch


@torch.compile
def f(x: torch.Tensor, double: bool) -> torch.Tensor:
    if (x < 0).any():
        raise ValueError("below")
    elif double:
        # Twice.
        y = x * 2.0
    else:
        y = x * 1.0
    if torch.isfinite(y).all():
        y = y.cos()
    else:
        raise ValueError("not finite")
    return y + 1.0
