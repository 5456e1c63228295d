import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        print("positive")
        y = x + 1
    else:
        y = x - 1
    return y
