import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0

    def read():
        return y * 3.0

    y = torch.where(x.sum() > 0, x * 2.0, y)
    return read()
