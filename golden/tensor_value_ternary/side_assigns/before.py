import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    z = x * 0.5
    y = x * 2.0 if x.sum() > 0 else (z := x + 1.0)
    return y + z
