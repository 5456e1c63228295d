import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if (x > 0).all():
        y = torch.sqrt(x)
    else:
        y = x * 0.5
    return y
