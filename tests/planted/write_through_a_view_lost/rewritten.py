import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    flat = x.detach().flatten() * 2
    return flat.sum()
