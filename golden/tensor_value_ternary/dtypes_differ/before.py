import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return (x.half() if x.sum() > 0 else x.double()) * 2.0
