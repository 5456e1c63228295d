import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    s = x.sum()
    ok = torch.isfinite(x).all()
    if s > 0 and ok and s != 6.0:
        return x * 2.0
    return x + 1.0
