import torch


@torch.compile
def f(x: torch.Tensor) -> None:
    with torch.no_grad():
        x = torch.where(x.sum() > 0, x * 2, x + 1)
