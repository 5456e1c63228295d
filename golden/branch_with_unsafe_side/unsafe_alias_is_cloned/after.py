import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    y = torch.cond((y > 0).all(), lambda: y.log(), lambda: y.clone())
    return y
