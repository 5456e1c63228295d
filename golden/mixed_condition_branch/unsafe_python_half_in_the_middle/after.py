import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if flag:
        y = torch.where(torch.logical_and(x.sum() > 0, (x < 3.0).all()), x * 2.0, x + 1.0)
    else:
        y = x + 1.0
    return y
