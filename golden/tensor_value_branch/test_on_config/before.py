import torch


class Config:
    max = 7
    any = True


cfg = Config()


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if cfg.max > 5 and cfg.any:
        y = x * 2.0
    else:
        y = x + 1.0
    return y
