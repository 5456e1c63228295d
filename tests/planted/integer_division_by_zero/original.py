import torch


def f(x: torch.Tensor) -> torch.Tensor:
    count = int((x > 0).sum())
    if count > 0:
        share = 60 // count
    else:
        share = 0
    return x * share
