import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    with torch.enable_grad():
        kept = x * y
    mask = torch.isnan(y)
    if mask.any():
        y[mask] = 0.0
    return kept + y
