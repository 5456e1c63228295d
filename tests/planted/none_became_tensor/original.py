from typing import Optional

import torch


@torch.compile
def f(x: torch.Tensor) -> tuple[torch.Tensor, Optional[torch.Tensor]]:
    loss = None
    if x.sum() > 0:
        loss = (x * x).sum()
    return x * 2, loss
