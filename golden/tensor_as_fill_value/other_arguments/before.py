import torch


@torch.compile
def f(x: torch.Tensor):
    y = torch.full_like(x, x.sum(), requires_grad=True)
    return y + torch.full_like(x, 2.0) + torch.full((2,), x.sum())
