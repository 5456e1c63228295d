import torch


class RangeError(ValueError):
    pass


@torch.compile
def f(x: torch.Tensor, limit: float):
    if not torch.isfinite(x).all():
        raise ValueError("not finite")
    total = x.sum()
    low = total < 0
    if low:
        cause = KeyError("low")
        raise RangeError("below zero", float(total)) from cause
    if (top := x.sum()) > 100 and total.item() > limit:
        raise RangeError(f"{total.item():.2f} is above {limit}")
    if not 0 <= total <= 1000:
        raise RangeError("far above")
    total = top + 1.0
    return x.cos() + 1.0, total
