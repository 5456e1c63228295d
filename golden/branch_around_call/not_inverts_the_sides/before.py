import torch


seen = []


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if not x.sum() > 0:
        seen.append(x * 2.0)  # doubled
    else:
        # shifted
        seen.append(x + 1.0)
    return seen.pop() * 3.0
