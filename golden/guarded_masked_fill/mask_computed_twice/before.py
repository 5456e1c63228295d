import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    if torch.isnan(y).any():  # rarely
        y = torch.where(torch.isnan(y), 0.0, y)  # no holes
    return y
