import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    while x.sum() > 1.0:
        if x.amax() > 2.0:
            break
        x = x * 0.5
    return x
