import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x + 1.0
    # Only when asked for.
    if (
        flag  # the switch
        and x.sum() > 0  # positive
    ):
        # Twice.
        y = y * 2.0  # doubled
    else:
        # Shifted.
        y = y - 1.0
    return y
