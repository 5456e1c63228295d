import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x - 1.0
    if flag and (total := x.sum()) > 3:
        y = x * total
    return y
