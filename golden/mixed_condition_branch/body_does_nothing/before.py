import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x + 1.0
    if flag or x.sum() > 3:
        pass
    else:
        y = x * 2.0
    return y
