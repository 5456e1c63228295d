import torch


@torch.compile
def f(x: torch.Tensor, value: torch.Tensor):
    x = x * 2
    y = torch.full_like(x, value, dtype=torch.float64)
    return x.new_full((3,), value, dtype=torch.float32, device=x.device) + y.sum()
