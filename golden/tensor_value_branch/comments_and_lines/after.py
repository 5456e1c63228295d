import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    # Decide by the sum.
    # of everything
    # Large.
    # doubled
    # Small.
    # moved
    y = torch.where(
        x.sum() > 0,
        x  # the input
            * 2.0,
        torch.add(
            x,  # the input
            1.0,
        ),
    )
    # Done.
    return y
