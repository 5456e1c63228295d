import torch


@torch.compile
def f(x: torch.Tensor, double: bool = False) -> torch.Tensor:
    double = x
    if x.max().item() > 5:
        raise ValueError("too large", x.shape)
    if double:
        x = x * 2.0
    return x.sin()
