import functools

import numpy as np
import torch


def sometimes(x: torch.Tensor, share: float):
    """May return before it draws."""
    if share == 0.0:
        return x
    return x * np.random.rand(1).item()


def computes(x: torch.Tensor):
    """Computes with tensors, which is worth a graph."""
    by = float(np.random.uniform(0.5, 1.0))
    return (x * by).sin() + x.cos()


@functools.lru_cache
def once(size: int):
    """Has a decorator."""
    return int(np.random.randint(size))


@torch.compile(fullgraph=True, backend="eager")
def captured(x: torch.Tensor):
    return x * drawn(2)


def drawn(size: int):
    """Is an error to leave out: fullgraph=True follows the draw, with other numbers."""
    return int(np.random.randint(size)) * 0


@torch.compile
def f(x: torch.Tensor):
    return computes(sometimes(x, 0.5)) * once(1) + sometimes(x, 0.0)


def entry(x):
    np.random.seed(0)
    return captured(x).isnan().any()
