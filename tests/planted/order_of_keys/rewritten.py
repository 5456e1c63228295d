import torch


@torch.compile
def f(x: torch.Tensor) -> dict[str, torch.Tensor]:
    moved = x + 1
    found = {"moved": moved}
    found["scaled"] = x * 2
    return found
