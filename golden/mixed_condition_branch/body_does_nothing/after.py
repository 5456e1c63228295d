import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x + 1.0
    if flag:
        pass
    else:
        y = torch.where(x.sum() > 3, y, x * 2.0)
    return y
