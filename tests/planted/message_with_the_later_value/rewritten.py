import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y.add_(1)
    print("before:", y)
    return y
