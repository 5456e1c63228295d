import torch


@torch.compile
def f(x: torch.Tensor) -> dict[str, torch.Tensor]:
    found = {}
    found["scaled"] = x * 2
    found["moved"] = x + 1
    return found
