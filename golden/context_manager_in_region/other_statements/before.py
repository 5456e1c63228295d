import threading
import warnings

import torch

lock = threading.Lock()


@torch.compile
def before(x: torch.Tensor):
    y = x * 2.0
    with lock:
        return y + 1.0


@torch.compile
def behind(x: torch.Tensor):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = x + 1.0
    return y * 2.0


def elsewhere(x: torch.Tensor):
    with lock:
        return x * 2.0


compiled = torch.compile(elsewhere)


def f(x):
    return before(x), behind(x), compiled(x)
