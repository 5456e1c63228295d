import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if flag and x.sum() > 3:
        y = torch.add(
            x,
            2.0,
        )
    else:
        y = (
            x
            * 3.0
        )
    return y
