import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return (x + 1).movedim(0, -1)
