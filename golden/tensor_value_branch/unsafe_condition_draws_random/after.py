import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = torch.where(torch.rand(1).sum() > 0.7, x * 2.0, x + 1.0)
    return y * torch.rand(1)
