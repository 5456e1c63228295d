import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    # The rest.
    y_false = x + 1.0
    y_false_2 = y_false * 3.0
    return torch.where(x.sum() > 0, x * 2.0, y_false_2 + 0.5)
