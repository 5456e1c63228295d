import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if flag:
        y = torch.where(
            x.sum() > 3,
            torch.add(
                x,
                2.0,
            ),
            x
                * 3.0,
        )
    else:
        y = (
            x
            * 3.0
        )
    return y
