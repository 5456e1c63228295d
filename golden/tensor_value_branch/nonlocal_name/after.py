import torch


def f(x):
    kept = x * 0.5

    @torch.compile
    def inner(t: torch.Tensor) -> torch.Tensor:
        nonlocal kept
        kept = torch.where(t.sum() > 0, t * 2.0, t + 1.0)
        return t * 3.0

    return inner(x), kept
