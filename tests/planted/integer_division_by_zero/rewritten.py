import torch


def f(x: torch.Tensor) -> torch.Tensor:
    count = int((x > 0).sum())
    share = (60 // count) * (count > 0)
    return x * share
