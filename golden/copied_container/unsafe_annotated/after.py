from copy import copy as shallow

import torch


@torch.compile
def f(xs: list[torch.Tensor]):
    total = xs[0] + xs[1]
    others = xs.copy()
    others.reverse()
    return xs, others, total * 2.0
