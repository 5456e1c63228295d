import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.numel() == 0:
        return x.sum()
    return x.reshape(-1).max(dim=0).values
