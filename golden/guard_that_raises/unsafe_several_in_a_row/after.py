import torch


class RangeError(ValueError):
    pass


@torch.compile
def _f_graph(x: torch.Tensor, limit: float):
    passed = torch.isfinite(x).all()
    total = x.sum()
    low = total < 0
    total_before = total
    value = (top := x.sum())
    total = top + 1.0
    return (x.cos() + 1.0, total), passed, low, total_before, value


def f(x: torch.Tensor, limit: float):
    result, passed, low, total, value = _f_graph(x, limit)
    if not passed:
        raise ValueError("not finite")
    if low:
        cause = KeyError("low")
        raise RangeError("below zero", float(total)) from cause
    if value > 100 and total.item() > limit:
        raise RangeError(f"{total.item():.2f} is above {limit}")
    if not 0 <= total <= 1000:
        raise RangeError("far above")
    return result
