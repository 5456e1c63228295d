import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x * 1.0
    for _ in range(3):
        running = (y > 1).any() & torch.isfinite(y).all()
        lower = y - 1
        lower = torch.where((lower > 20).any(), lower * 0.25, lower)
        y = torch.where(running, lower, y)
    return y
