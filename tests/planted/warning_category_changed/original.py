import warnings

import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.dim() > 2:
        warnings.warn("more than two dimensions", FutureWarning, stacklevel=2)
    return x * 2
