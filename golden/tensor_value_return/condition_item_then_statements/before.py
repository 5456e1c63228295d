import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    total = (x * x).sum().item()
    if total > 1.5:
        return x * 2.0
    y = x + 1.0
    return y * 2.0
