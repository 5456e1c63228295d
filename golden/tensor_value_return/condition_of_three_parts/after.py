import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    s = x.sum()
    ok = torch.isfinite(x).all()
    return torch.where(torch.logical_and(torch.logical_and(s > 0, ok), s != 6.0), x * 2.0, x + 1.0)
