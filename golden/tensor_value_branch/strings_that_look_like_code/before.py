import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    """if x.sum() > 0:  # not code"""
    if x.sum() > 0:  # "else:" is only text
        "a string that does nothing"
        y = x * 2.0
    else:  # 'quoted
        y = torch.mul(x, 3.0)  # ->
    return y
