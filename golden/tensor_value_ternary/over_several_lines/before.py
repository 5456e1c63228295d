import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return (
        x * 2.0  # doubled
        if x.sum() > 0  # large
        else x + 1.0  # moved
    )
