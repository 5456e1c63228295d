import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    flat = x.detach().view(-1)
    flat.mul_(2)
    return flat.sum()
