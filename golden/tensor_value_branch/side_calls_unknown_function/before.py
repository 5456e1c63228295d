import torch

def twice(t, times=[]):
    times.append(1)
    return t * len(times)


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = twice(x)
    else:
        y = x + 1.0
    return y
