import torch


@torch.compile
def f(x: torch.Tensor, amount: torch.Tensor) -> torch.Tensor:
    y = x
    y = torch.where(x.sum() > 0, y + amount, y - amount)
    return y
