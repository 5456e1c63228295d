import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    positive = (x > 0).all()
    safe = torch.where(positive, x, torch.ones_like(x))
    return torch.where(positive, torch.sqrt(safe), x * 0.5)
