import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    try:
        if x.sum() > 0:
            y = x[2]
        else:
            y = x[0]
    except IndexError:
        y = x[1]
    return y * 2.0
