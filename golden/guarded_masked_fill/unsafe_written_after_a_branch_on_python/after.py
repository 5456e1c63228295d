import torch


@torch.compile
def f(x: torch.Tensor, strict: bool) -> torch.Tensor:
    y = x.float() + 1.0
    mask = torch.isnan(y)
    if strict:
        y = y * 2.0
    else:
        y.masked_fill_(mask, 0.0)
    return y
