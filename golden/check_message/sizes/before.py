import torch


def checked(x: torch.Tensor, n: int):
    torch._check(x.shape[0] > n, lambda: f"{x.shape[0]} rows, {n} wanted")  # too few
    torch._check_value(0 < x.size(0) <= 4 * n, message=lambda: "%d rows" % x.shape[0])
    return x + n


@torch.compile
def f(x: torch.Tensor, n: int):
    if x.ndim == 2:
        torch._check_index(x.shape[1] == 2, lambda: x.shape)
    return checked(x, n) * 2.0
