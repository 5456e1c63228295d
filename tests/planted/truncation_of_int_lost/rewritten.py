import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    steps = x.abs().mean().detach()
    return x + steps
