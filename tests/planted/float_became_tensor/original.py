import torch


@torch.compile
def f(x: torch.Tensor) -> tuple[torch.Tensor, float]:
    return x * 2, x.double().mean().item()
