import time

import torch


@torch.compile
def f(x: torch.Tensor):
    y = x * 2.0
    now = time.time()
    return y + 1.0, now > 0
