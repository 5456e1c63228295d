import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if (x < 0).any():
        raise ValueError("negative")
    y = x * 2
    print("checking", x.dim(), "dimensions")
    return y
