import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    kept = {}
    if x.sum() > 0:
        kept["y"] = x * 2.0
    else:
        kept["y"] = x + 1.0
    return kept["y"]
