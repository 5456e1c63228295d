import torch


@torch.compile
def f(x: torch.Tensor) -> None:
    with torch.no_grad():
        if x.sum() > 0:
            x.mul_(2)
        else:
            x.add_(1)
