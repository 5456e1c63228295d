import torch


def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        x.add_(1)
    if y.sum() > 0:
        return y * 2
    return y * 3
