import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.shape[-1] == 1:
        return x[..., 0] * 2
    return x * 2
