import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    if y.sum() > 0:
        return y.log()
    return y * 2.0
