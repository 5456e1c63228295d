import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    total = x.sum().item()
    return x * 2.0 if total >= 0 else x + 1.0
