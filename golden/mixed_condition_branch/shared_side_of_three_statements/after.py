import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if flag:
        y_false = x + 1.0  # shifted
        y_false_2 = y_false * 3.0
        y = torch.where(x.sum() > 0, x * 2.0, y_false_2 - 1.0)
    else:
        y = x + 1.0
        y = y * 3.0
        y = y - 1.0
    return y
