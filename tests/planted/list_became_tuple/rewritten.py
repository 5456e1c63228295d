import torch


@torch.compile
def f(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    positive = x.sum() > 0
    return torch.where(positive, x + 1, x - 1), torch.where(positive, x + 2, x - 2)
