import torch


def f(x: torch.Tensor) -> torch.Tensor:
    torch.set_grad_enabled(False)
    scale = x.abs().amax()
    return x + scale
