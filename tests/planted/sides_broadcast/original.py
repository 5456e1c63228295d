import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = x.sum(dim=-1)
    else:
        y = x.sum(dim=-1, keepdim=True)
    return y
