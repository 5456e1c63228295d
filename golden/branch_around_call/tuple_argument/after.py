import torch


seen = []


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    seen.append((torch.where(x.sum() > 0, x * 2.0, x + 1.0), x))
    return seen.pop()[0] * 3.0
