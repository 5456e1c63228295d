import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() * 1.0
    a = torch.where(x.sum() > 0, y, y + 2.0)
    return torch.relu(a) - a.sum()
