import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    z = x.detach().clone()
    first = z[0].item()
    z.add_(1.0)
    if first > 0:
        y = x * 2.0
    else:
        y = x + 1.0
    return y + z
