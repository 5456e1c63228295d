import torch

history: list[str] = []


def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        history.append("large")
        y = x * 2
    else:
        y = x * 3
    return y
