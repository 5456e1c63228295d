import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    steps = int(x.abs().mean())
    return x + steps
