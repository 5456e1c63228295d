import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    rate = torch.where(x.sum() > 0, 0.1, 0.7)
    return x.double() * rate
