import torch


def f(x):
    @torch.compile
    def inner(t: torch.Tensor) -> torch.Tensor:
        if t.sum() > 0:
            y = t * 2.0
        else:
            y = t + 1.0
        return y

    return inner(x)
