import torch


@torch.compile
def f(x: torch.Tensor, amount: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y = torch.where(x.sum() > 0, amount, amount)
    return y
