import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    while True:
        if not x.sum() > 1.0:
            break
        x = x * 0.5
    return x
