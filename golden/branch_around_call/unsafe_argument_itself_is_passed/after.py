import torch


seen = []


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    seen.append(torch.where(x.sum() > 0, x, x.neg()))
    return seen.pop() * 3.0
