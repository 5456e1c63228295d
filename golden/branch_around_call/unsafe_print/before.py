import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        print("value", x * 2.0)
    else:
        print("value", x + 1.0)
    return x * 3.0
