import torch


def f(x):
    @torch.compile
    def inner(t: torch.Tensor) -> torch.Tensor:
        y = torch.where(t.sum() > 0, t * 2.0, t + 1.0)
        return y

    return inner(x)
