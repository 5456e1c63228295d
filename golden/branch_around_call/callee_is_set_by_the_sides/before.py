import torch


first, second = [], []


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        record = first.append
        record(x * 2.0)
    else:
        record = second.append
        record(x + 1.0)
    return x * float(len(second) + 1)
