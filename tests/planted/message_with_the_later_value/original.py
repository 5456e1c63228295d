import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    print("before:", y)
    y.add_(1)
    return y
