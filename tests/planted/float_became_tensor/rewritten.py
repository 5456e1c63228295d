import torch


@torch.compile
def f(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x * 2, x.detach().double().mean()
