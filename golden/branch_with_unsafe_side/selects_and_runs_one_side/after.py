import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    y = torch.where(y.sum() > 0, y / y.sum(), y)
    count = x.long() + 1
    count = torch.cond(count.all() != 0, lambda: count // count, lambda: count.clone())
    return y + count
