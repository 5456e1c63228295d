import sys

import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    print("dimensions:", x.dim(), file=sys.stderr)
    return x * 2
