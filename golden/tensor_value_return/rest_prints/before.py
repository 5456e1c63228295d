import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x * 2.0
    print("moved", end=" ")
    return x + 1.0
