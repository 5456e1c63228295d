import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x + 1.0
    # Only when asked for.
    # the switch
    # positive
    # Twice.
    # doubled
    # Shifted.
    if flag:
        y = torch.where(x.sum() > 0, y * 2.0, y - 1.0)
    else:
        y = y - 1.0
    return y
