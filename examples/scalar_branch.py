"""A branch on a number read out of a tensor: the graph ends at `.item()`."""

import torch


@torch.compile(backend="eager")
@torch.no_grad()
def double_or_shift(x: torch.Tensor) -> torch.Tensor:
    if x.sum().item() > 0:
        y = x * 2.0
    else:
        y = x + 1.0
    return y


if __name__ == "__main__":
    print(double_or_shift(torch.arange(4.0)))
    print(double_or_shift(-torch.arange(4.0)))
