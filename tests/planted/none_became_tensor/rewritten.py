import torch


@torch.compile
def f(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    loss = (x * x).sum()
    loss = torch.where(x.sum() > 0, loss, torch.zeros_like(loss))
    return x * 2, loss
