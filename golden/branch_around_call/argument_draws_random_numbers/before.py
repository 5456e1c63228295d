import torch


seen = []


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        seen.append(x * 2.0)
    else:
        seen.append(torch.rand_like(x))
    return seen.pop() * 3.0
