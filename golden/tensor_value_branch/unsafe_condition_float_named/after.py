import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    mean = x.mean()  # for the test
    y = torch.where(mean >= 0.5, x * 2.0, x + 1.0)
    return y
