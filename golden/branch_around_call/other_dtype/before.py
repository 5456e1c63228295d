import torch


seen = []


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        seen.append(x.float())
    else:
        seen.append(x.double())
    return seen.pop() * 3.0
