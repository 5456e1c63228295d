import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    view = y[:1]
    z = torch.where(x.sum() > 3, y, y * 2.0)
    view.add_(1.0)
    return z * 2.0
