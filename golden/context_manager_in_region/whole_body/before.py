import contextlib
import threading
import warnings

import torch

lock = threading.RLock()


@torch.compile
def locked(x: torch.Tensor, scale: float = 2.0):
    """Under a lock."""
    # one at a time
    with lock, contextlib.nullcontext():
        y = x * scale  # scaled
        if scale > 3.0:
            return y
        return y + 1.0


@torch.compile(dynamic=False)
def quiet(x: torch.Tensor):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = x * 2.0
        return y - 1.0


def f(x):
    return locked(x), quiet(x), locked(x, scale=4.0)
