import torch


@torch.compile
def f(x: torch.Tensor) -> bool:
    return bool((x > 0).all())
