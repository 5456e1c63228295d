import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    print("shape", *x.shape, sep=",")
    return x * 2
