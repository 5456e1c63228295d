import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x.float() * 2.0
    if flag:
        y = torch.where(torch.isinf(y).any(), y.clamp(max=4.0), y)
    if flag:
        y = torch.where(torch.isnan(y).any(), y + 1.0, y)
    return y
