import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    """if x.sum() > 0:  # not code"""
    # "else:" is only text
    # 'quoted
    # ->
    y = torch.where(x.sum() > 0, x * 2.0, torch.mul(x, 3.0))
    return y
