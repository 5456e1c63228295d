import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = torch.ones(x.shape, dtype=torch.int64)
    else:
        y = torch.zeros(x.shape)
    return y
