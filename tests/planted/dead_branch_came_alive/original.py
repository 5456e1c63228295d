import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.shape == [x.shape[0], x.shape[-1]]:
        return x * 2
    return x * 3
