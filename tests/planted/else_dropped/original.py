import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if (x < 0).any():
        raise ValueError("negative input")
    else:
        x = x * 2 + 1
    return x * 1
