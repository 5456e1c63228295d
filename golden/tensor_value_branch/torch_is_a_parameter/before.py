from torch import Tensor, compile


@compile
def choose(x: Tensor, torch: float) -> Tensor:
    if x.sum() > 0:
        y = x * 2.0
    else:
        y = x + 1.0
    return y


def f(x):
    return choose(x, 1.0)
