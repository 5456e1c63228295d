import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if flag:
        y = x + 1.0
        return torch.where(x.sum() > 0, x * 2.0, y * 3.0)
    else:
        y = x + 1.0
        return y * 3.0
