import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    if y.sum() > 0:
        y = y / y.sum()
    count = x.long() + 1
    if count.all():
        count = count // count
    return y + count
