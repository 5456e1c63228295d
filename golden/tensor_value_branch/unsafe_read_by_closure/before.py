import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0

    def read():
        return y * 3.0

    if x.sum() > 0:
        y = x * 2.0
    return read()
