import torch
from torch.nn import functional


def f(x: torch.Tensor) -> torch.Tensor:
    x = x.float()
    return torch.cond(x.sum() > 0, lambda: functional.dropout(x * 2, 0.5), lambda: x * 3)
