import torch


def skipped(x: torch.Tensor, rate: float, training: bool) -> torch.Tensor:
    for size in range(3):
        if training:
            drawn = torch.rand([])
            if rate > 0.0 and drawn < rate:  # skip it
                continue
        x = x * 2.0 + size
    return x


def spelled(x: torch.Tensor, rate: float, training: bool) -> torch.Tensor:
    drawn = torch.rand(1, dtype=torch.float64)
    dropped = True if training and (rate > 0.0 and rate > drawn) else False
    kept = not (rate > 0.0 and drawn < rate)
    if not dropped and ((rate <= 0.0 or drawn >= rate) or not training) and kept is not None:
        return x.sin()
    return x.cos()


@torch.compile
def f(x: torch.Tensor, rate: float, training: bool) -> torch.Tensor:
    return skipped(x, rate, training) + spelled(x, rate, training) + torch.rand(2)
