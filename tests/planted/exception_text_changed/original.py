import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if (x < 0).any():
        raise ValueError(f"{int((x < 0).sum())} negative values")
    return x * 2
