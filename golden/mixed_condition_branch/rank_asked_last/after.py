import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if flag and x.ndim == 1:
        y = torch.where(x.sum() > 0, x * 2.0, x + 1.0)
    else:
        y = x + 1.0
    return y
