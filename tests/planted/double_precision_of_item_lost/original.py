import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    scale = x.detach().mean().item() * 0.1 + 1e-3
    return x / scale
