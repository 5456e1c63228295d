import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    try:
        y = torch.where(x.sum() > 0, x[2], x[0])
    except IndexError:
        y = x[1]
    return y * 2.0
