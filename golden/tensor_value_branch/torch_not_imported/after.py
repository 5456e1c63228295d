"""Nothing here is called torch."""

from torch import Tensor, compile
import torch


@compile
def f(x: Tensor) -> Tensor:
    y = torch.where(x.sum() > 0, x * 2.0, x + 1.0)
    return y
