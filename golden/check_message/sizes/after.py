import torch


def checked(x: torch.Tensor, n: int):
    # too few
    if not (x.shape[0] > n):
        raise RuntimeError(f"{x.shape[0]} rows, {n} wanted")
    if not (0 < x.size(0) <= 4 * n):
        raise ValueError("%d rows" % x.shape[0])
    return x + n


@torch.compile
def f(x: torch.Tensor, n: int):
    if x.ndim == 2:
        torch._check_index(x.shape[1] == 2, lambda: x.shape)
    return checked(x, n) * 2.0
