import torch


@torch.compile
def f(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = x.float() + 1.0
    if y.sum() > 0:
        return y.log(), y * 2.0
    return y * 3.0, y + 4.0
