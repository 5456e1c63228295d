import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    done = x < 0.5
    while not done.all() and not torch.isnan(x).any():
        x = x * 0.5
        done = x < 0.5
    return x
