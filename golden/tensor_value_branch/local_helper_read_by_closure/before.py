import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    def read():
        return h * 3.0

    if x.sum() > 0:
        h = x * 2.0
        y = h + 1.0
    else:
        y = x + 1.0
    return y if x.dim() == 1 else read()
