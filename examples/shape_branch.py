"""A branch on a shape: Dynamo decides it while tracing, so there is nothing to fix."""

import torch


@torch.compile(backend="eager")
def flatten_rows(x: torch.Tensor) -> torch.Tensor:
    if x.shape[0] > 2:
        y = x.reshape(-1) * 2.0
    else:
        y = x.reshape(-1) + 1.0
    return y


if __name__ == "__main__":
    print(flatten_rows(torch.arange(6.0).reshape(3, 2)))
    print(flatten_rows(torch.arange(4.0).reshape(2, 2)))
