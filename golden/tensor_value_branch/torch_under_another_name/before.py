import torch as th


@th.compile
def f(x: th.Tensor) -> th.Tensor:
    if x.sum() > 0:
        y = x * 2.0
    else:
        y = x + 1.0
    return y
