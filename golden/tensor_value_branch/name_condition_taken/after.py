import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    condition = x * 2.0
    condition_2 = x.sum() > 0
    a = torch.where(condition_2, condition + 1.0, condition - 2.0)
    b = torch.where(condition_2, condition - 1.0, condition + 2.0)
    return a - b * 2.0
