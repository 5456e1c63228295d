import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    rate = 0.1 if x.sum() > 0 else 0.7
    return x.double() * rate
