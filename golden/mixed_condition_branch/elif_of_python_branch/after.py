import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if x.ndim == 2:
        y = x - 1.0
    elif flag:
        y = torch.where(x.sum() > 0, x * 2.0, x + 1.0)
    else:
        y = x + 1.0
    return y
