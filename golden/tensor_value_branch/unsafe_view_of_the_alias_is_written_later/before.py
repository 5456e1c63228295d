import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    view = y[:1]
    if x.sum() > 3:
        z = y
    else:
        z = y * 2.0
    view.add_(1.0)
    return z * 2.0
