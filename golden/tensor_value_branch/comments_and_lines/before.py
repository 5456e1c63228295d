import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    # Decide by the sum.
    if (
        x.sum()  # of everything
        > 0
    ):
        # Large.
        y = (
            x  # the input
            * 2.0  # doubled
        )
    else:
        # Small.
        y = torch.add(
            x,  # the input
            1.0,
        )  # moved
    # Done.
    return y
