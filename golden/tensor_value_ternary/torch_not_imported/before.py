from torch import Tensor, compile


@compile
def f(x: Tensor) -> Tensor:
    return x * 2.0 if x.sum() > 0 else x + 1.0
