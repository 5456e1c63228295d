import torch


@torch.compile
def f(x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    return torch.add(x * 2.0 if x.sum() > 0 else z * 2.0, 1.0)
