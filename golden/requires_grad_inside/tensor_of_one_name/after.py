"""Leaves made on the way."""

import torch
from torch import nn


class _RequiringGradient(torch.autograd.Function):
    """Gives a view that requires a gradient, whatever the tensor did."""

    @staticmethod
    def forward(ctx, tensor, leaf):
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


_ANY_LEAF = torch.zeros((), requires_grad=True)


def _requiring_gradient(tensor):
    """The tensor after `tensor.requires_grad = True`; for torch.compile, which cannot follow that, a view of it."""
    followed = tensor.is_floating_point() and not tensor.requires_grad
    if followed and torch.compiler.is_compiling():
        with torch.enable_grad():
            return _RequiringGradient.apply(tensor, _ANY_LEAF)
    tensor.requires_grad = True
    return tensor

frozen = nn.Linear(4, 4)
frozen.requires_grad_(False)


@torch.compile
def f(x: torch.Tensor, on: bool):
    h = x[:, None]  # a view of its own
    if on:
        # for what is recomputed
        h = _requiring_gradient(h)
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
