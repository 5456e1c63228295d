import torch


def f(x: torch.Tensor) -> torch.Tensor:
    twice = x.detach().amax() * 2
    return x.float() - twice
