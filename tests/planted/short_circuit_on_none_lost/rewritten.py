from typing import Optional

import torch


@torch.compile
def f(x: torch.Tensor, mask: Optional[torch.Tensor] = None) -> torch.Tensor:
    return torch.where(mask.any(), x * 2, x + 1)
