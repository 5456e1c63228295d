import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    return x * 2.0 if flag and x.sum() > 3 else x * 3.0
