import torch


def f(x: torch.Tensor) -> torch.Tensor:
    if torch.compiler.is_compiling():
        return torch.where(x > 0, x * 2, x * 3)
    if x.sum() > 0:
        return x * 2
    return x * 3
