import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    if x.shape[0] > 2:
        y = torch.where(x.sum() > 0, y * 2.0, y)
    return y
