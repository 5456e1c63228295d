import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return x.abs() + (x.tanh() if x.mean() < 0 else x.sin())
