import torch


@torch.compile
def f(x: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    return torch.where(x.sum() > 0, x + bias, x * 2.0)
