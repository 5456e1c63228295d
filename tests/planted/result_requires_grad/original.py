import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = x * 2
    else:
        y = x.detach() + 1
    return y
