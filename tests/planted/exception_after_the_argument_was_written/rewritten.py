import torch


def f(x: torch.Tensor) -> torch.Tensor:
    bad = torch.isnan(x).any()
    with torch.no_grad():
        x.clamp_(max=1)
    if bad:
        raise ValueError("not a number")
    return x
