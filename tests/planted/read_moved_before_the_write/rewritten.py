import torch


def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    result = torch.where(y.sum() > 0, y * 2, y * 3)
    with torch.no_grad():
        x.add_(1)
    return result
