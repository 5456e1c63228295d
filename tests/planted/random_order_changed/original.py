import torch


def f(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    shift = torch.rand(x.shape)
    scale = torch.rand(x.shape)
    if x.sum() > 0:
        return x + shift, x * scale
    return x - shift, x * scale
