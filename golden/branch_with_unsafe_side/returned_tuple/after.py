import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = x.long() + 1
    return torch.cond(y.all() != 0, lambda: (y // y, y * 2), lambda: (y * 0, y * 3))
