import torch


@torch.compile(fullgraph=True)
def f(x: torch.Tensor) -> torch.Tensor:
    y = torch.where(x.sum() > 0, x * 2.0, x + 1.0)
    return y
