import torch


@torch.compile
def _f_graph(x: torch.Tensor, double: bool):
    failed = (x < 0).any()
    if double:
        # Twice.
        y = x * 2.0
    else:
        y = x * 1.0
    passed = torch.isfinite(y).all()
    y = y.cos()
    return y + 1.0, failed, passed


def f(x: torch.Tensor, double: bool) -> torch.Tensor:
    result, failed, passed = _f_graph(x, double)
    if failed:
        raise ValueError("below")
    if not passed:
        raise ValueError("not finite")
    return result
