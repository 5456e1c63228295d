import torch
from torch import Tensor, compile


@compile
def f(x: Tensor) -> Tensor:
    torch = 2.0
    if x.sum() > 0:
        y = x * torch
    else:
        y = x + 1.0
    return y
