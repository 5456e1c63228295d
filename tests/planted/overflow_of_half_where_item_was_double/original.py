import torch


def f(x: torch.Tensor) -> torch.Tensor:
    twice = x.detach().amax().item() * 2
    return x.float() - twice
