import torch

history: list[str] = []


def f(x: torch.Tensor) -> torch.Tensor:
    history.append("large")
    return torch.where(x.sum() > 0, x * 2, x * 3)
