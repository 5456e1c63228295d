import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = torch.where(x.sum() > 0, x * 2, x * 3)
    print("shape", tuple(x.shape))
    return y
