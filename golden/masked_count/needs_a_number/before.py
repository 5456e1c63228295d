import torch


@torch.compile
def f(x: torch.Tensor):
    y = x.double()
    mask = x > 0
    zeros = y.new_zeros(len(x[mask]))
    ratio = x[mask].numel() / x.numel()
    below = len(x[mask]) / y
    near = y / (x[mask].numel() + 1e-6)
    whole = x.int() * len(x[mask])
    half = len(x[mask]) * x.half()
    return half, zeros, ratio, below, near, whole, mask.nonzero().shape[0]
