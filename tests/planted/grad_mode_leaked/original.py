import torch


def f(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        scale = x.abs().amax()
    return x + scale
