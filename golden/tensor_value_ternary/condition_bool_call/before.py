import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return x * 2.0 if bool((x > 2.5).any()) else x + 1.0
