import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    condition = x.sum() > 0
    a_true = x + 1.0
    a_false = x * 3.0
    a = torch.where(condition, a_true, a_false)
    b = torch.where(condition, a_true * 2.0, a_false + 2.0)
    return a + b
