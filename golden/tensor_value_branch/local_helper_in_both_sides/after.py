import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    z = x.float()
    part_true = z * 2.0
    part_false = z + 1.0
    y = torch.where(x.sum() > 0, part_true + part_true.sum(), part_false - part_false.sum())
    return y
