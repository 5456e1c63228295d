import contextlib
import threading
import warnings

import torch

lock = threading.RLock()


# one at a time
@torch.compile
def _locked_graph(x: torch.Tensor, scale: float):
    y = x * scale  # scaled
    if scale > 3.0:
        return y
    return y + 1.0


def locked(x: torch.Tensor, scale: float = 2.0):
    """Under a lock."""
    with lock, contextlib.nullcontext():
        return _locked_graph(x, scale)


@torch.compile(dynamic=False)
def _quiet_graph(x: torch.Tensor):
    y = x * 2.0
    return y - 1.0


def quiet(x: torch.Tensor):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _quiet_graph(x)


def f(x):
    return locked(x), quiet(x), locked(x, scale=4.0)
