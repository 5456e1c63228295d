import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    for row in y:
        last = row
    if x.sum() > 0:
        y += 2.0
    return last + y
