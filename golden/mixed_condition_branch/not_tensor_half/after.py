import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if flag:
        y = torch.where((x > 0).all(), x + 1.0, x * 2.0)
    else:
        y = x + 1.0
    return y
