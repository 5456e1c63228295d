import torch


seen = []


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        seen.append(x * 2.0)
    elif x.sum() < -5:
        seen.append(x + 3.0)
    else:
        seen.append(x + 1.0)
    return seen.pop() * 2.0
