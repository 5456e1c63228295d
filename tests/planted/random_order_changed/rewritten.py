import torch


def f(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scaled = x * torch.rand(x.shape)
    shift = torch.rand(x.shape)
    return torch.where(x.sum() > 0, x + shift, x - shift), scaled
