import torch
from torch.nn import functional


def f(x: torch.Tensor) -> torch.Tensor:
    x = x.float()
    if x.sum() > 0:
        return functional.dropout(x * 2, 0.5)
    return x * 3
