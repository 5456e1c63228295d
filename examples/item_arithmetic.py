"""`.item()` used for computing only: the number goes straight back into a tensor operation."""

import torch


@torch.compile(backend="eager")
def centre(x: torch.Tensor) -> torch.Tensor:
    largest = x.max().item()
    return x - largest * 0.5


if __name__ == "__main__":
    print(centre(torch.arange(4.0)))
