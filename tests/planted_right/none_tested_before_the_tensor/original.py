from typing import Optional

import torch


@torch.compile
def f(x: torch.Tensor, mask: Optional[torch.Tensor] = None) -> torch.Tensor:
    if mask is not None and mask.any():
        y = x * 2
    else:
        y = x * 3
    return y
