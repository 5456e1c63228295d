import torch


seen = []


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        seen.append((x * 2.0, x))
    else:
        seen.append((x + 1.0, x))
    return seen.pop()[0] * 3.0
