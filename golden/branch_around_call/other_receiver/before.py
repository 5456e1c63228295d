import torch


seen, other = [], []


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        seen.append(x * 2.0)
    else:
        other.append(x + 1.0)
    return x * 3.0
