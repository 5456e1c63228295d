"""Leaves made on the way."""

import torch
from torch import nn

frozen = nn.Linear(4, 4)
frozen.requires_grad_(False)


@torch.compile
def f(x: torch.Tensor, on: bool):
    h = x[:, None]  # a view of its own
    if on:
        # for what is recomputed
        h.requires_grad = True
    y = torch.nn.functional.linear(h, frozen.weight) * 2.0
    return y + h.shape[0] + g(x)


def g(x: torch.Tensor):
    with torch.no_grad():
        h = x.clone()
    h.requires_grad_()
    return h.sin() * h


def entry(x, on, off=False):
    with torch.set_grad_enabled(not off):
        return f(x, on)
