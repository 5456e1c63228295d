"""A print between two tensor operations: Dynamo ends the graph there and starts another one."""

import torch


@torch.compile(backend="eager")
def scale_and_shift(x: torch.Tensor) -> torch.Tensor:
    y = x * 2.0
    print("halfway")
    return y + 1.0


if __name__ == "__main__":
    print(scale_and_shift(torch.arange(4.0)))
