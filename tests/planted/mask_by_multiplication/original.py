import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    flat = x.reshape(-1)
    return flat.masked_fill(flat > 1, 0)
