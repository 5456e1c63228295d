import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    try:
        if x.sum() > 0:
            return x * 2.0
    finally:
        x = x + 1.0
    return x
