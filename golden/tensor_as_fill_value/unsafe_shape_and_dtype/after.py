import torch


@torch.compile
def f(x: torch.Tensor, value: torch.Tensor):
    x = x * 2
    y = torch.empty_like(x, dtype=torch.float64).fill_(value)
    return x.new_empty((3,), dtype=torch.float32, device=x.device).fill_(value) + y.sum()
