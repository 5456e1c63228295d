import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(())
    for row in x:
        total = total + row.sum()
    return total
