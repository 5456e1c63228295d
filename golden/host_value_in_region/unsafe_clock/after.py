import time

import torch


@torch.compile
def _f_graph(x: torch.Tensor, *, now):
    y = x * 2.0
    return y + 1.0, now > 0


def f(x: torch.Tensor):
    now = time.time()
    return _f_graph(x, now=now)
