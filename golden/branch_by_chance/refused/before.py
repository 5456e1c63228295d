import torch


@torch.compile
def f(x: torch.Tensor, rate: float, bound: torch.Tensor) -> torch.Tensor:
    several = torch.rand(2)
    if several.shape[0] < rate:
        x = x + 1.0
    written = torch.rand([])
    written.sub_(1.0)
    if written < rate:
        x = x + torch.rand(2)
    other = torch.rand(1)
    if x.shape[0] > 1:
        other = x.sum()
    if other < rate:
        x = x + torch.rand(2)
    if torch.rand([]) < rate:
        x = x + torch.rand(2)
    drawn = torch.rand([])
    if rate > 0.0 and drawn < rate:
        x = x + torch.rand(2)
    if drawn < bound:
        x = x + torch.rand(2)
    if drawn < rate * 2.0:
        x = x + torch.rand(2)
    if drawn <= rate:
        x = x + torch.rand(2)
    kept = drawn < rate
    return torch.where(kept, x, -x)
