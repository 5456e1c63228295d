import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return torch.add(x, other=(x * 2.0) if (x.sum() > 0) else (x + 1.0))
