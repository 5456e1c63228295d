import torch


@torch.compile
def f(x: torch.Tensor, cfg) -> torch.Tensor:
    if cfg.max > 5:
        y = x * 2.0
    else:
        y = x + 1.0
    return y
