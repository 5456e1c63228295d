import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    seen = []
    if x.sum() > 0:
        seen.append(x)
        y = x * 2.0
    else:
        y = x + 1.0
    return y * (len(seen) + 1)
