import torch


@torch.compile
def f(x: list) -> torch.Tensor:
    if x.count(1) > 0:
        y = torch.ones(2)
    else:
        y = torch.zeros(2)
    return y
