import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return x.unsqueeze(0)
