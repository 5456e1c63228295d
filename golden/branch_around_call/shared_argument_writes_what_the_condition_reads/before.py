import torch


seen = []


def record(first, second):
    seen.append(second)


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 0.0
    if y.sum() > 0:
        record(y.neg_(), x * 2.0)
    else:
        record(y.neg_(), x + 1.0)
    return seen.pop() + y
