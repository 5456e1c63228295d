import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor) -> torch.Tensor:
    if (x > 0).all():
        return torch.sqrt(x)
    return x * 0.5
