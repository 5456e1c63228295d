import torch


seen = []


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    # doubled
    # shifted
    seen.append(torch.where(x.sum() > 0, x + 1.0, x * 2.0))
    return seen.pop() * 3.0
