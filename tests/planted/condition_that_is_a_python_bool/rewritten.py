import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    close = x.allclose(torch.zeros_like(x))
    return torch.where(close, x * 2, x * 3)
