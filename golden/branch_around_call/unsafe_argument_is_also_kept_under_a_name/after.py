import torch


seen = []


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    condition = x.sum() > 0
    y_true = x * 2.0
    y_false = x + 1.0
    y = torch.where(condition, y_true, y_false)
    seen.append(torch.where(condition, y_true, y_false))
    y.add_(1.0)
    return seen.pop()
