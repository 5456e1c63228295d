import torch


def ready(flag: bool) -> bool:
    print("asked", end=" ")
    return flag


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if x.sum() > 0 and ready(flag):
        y = x * 2.0
    else:
        y = x + 1.0
    return y
