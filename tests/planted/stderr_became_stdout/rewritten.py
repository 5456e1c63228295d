import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    print("dimensions:", x.dim())
    return x * 2
