import torch


@torch.compile
def f(x: torch.Tensor):
    y = x + 1.0
    first = str(y)
    second = "%s of %s" % (y.sum(), 3)
    third = {"key": repr(x)}
    shape = str(x.shape) + "%d" % x.shape[0] + f"{y}"
    return y, first, second, third, shape
