import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x * 2.0
    if y.dtype == torch.float16:
        y = torch.where(torch.isinf(y).any(), y.clamp(max=4.0), y)
    return y
