import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return torch.where(
        x.sum() > 0,
        x  # input
            * 2.0,
        torch.add(
            x,
            1.0,  # one
        ),
    )
