import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    last = x + 1.0
    y = x - 1.0
    if flag and (last := x.isnan()).any():
        y = x * 2.0
    return y + last
