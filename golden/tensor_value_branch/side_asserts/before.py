import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        assert x.shape[0] == 3
        y = x * 2.0
    else:
        y = x + 1.0
    return y
