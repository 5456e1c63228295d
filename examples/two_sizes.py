"""A pointwise function called with two sizes under `dynamic=False`: each new size is compiled again."""

import torch


@torch.compile(dynamic=False, backend="eager")
def halve(x: torch.Tensor) -> torch.Tensor:
    return x * 0.5


if __name__ == "__main__":
    print(halve(torch.arange(4.0)))
    print(halve(torch.arange(6.0)))
