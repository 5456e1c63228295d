"""Nothing here is called torch."""

from torch import Tensor, compile


@compile
def f(x: Tensor) -> Tensor:
    if x.sum() > 0:
        y = x * 2.0
    else:
        y = x + 1.0
    return y
