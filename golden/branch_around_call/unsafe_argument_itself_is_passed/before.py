import torch


seen = []


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        seen.append(x)
    else:
        seen.append(x.neg())
    return seen.pop() * 3.0
