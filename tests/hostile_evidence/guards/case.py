"""Names that Dynamo had no need to look at before the branch: a later call reuses the graph with other values."""

import types

import torch


@torch.compile(backend="eager")
def fixed(x, y):
    """The one that can be fixed: y is read before the branch, so a guard holds what it was."""
    t = y.sum()
    if x.sum() > 0:
        z = y * 2
    else:
        z = x * 2
    return z, t


def helper(x, y):
    if x.sum() > 0:
        z = x * 2
    else:
        z = y * 2
    return z


@torch.compile(backend="eager")
def calls_a_helper(x, y):
    return helper(x, y) + 1


def helper_called_in_python(x, y):
    return helper(x, y)


@torch.compile(backend="eager")
def _attribute(x, config):
    if x.sum() > 0:
        z = config.scale * 2
    else:
        z = x * 2
    return z


def attribute(x, scale):
    return _attribute(x, types.SimpleNamespace(scale=scale))


@torch.compile(backend="eager")
def _returned_attribute(x, config):
    if x.sum() > 0:
        return config.scale * 2
    return x * 2


def returned_attribute(x, scale):
    return _returned_attribute(x, types.SimpleNamespace(scale=scale))


class Block(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    @torch.compile(backend="eager")
    def forward(self, x):
        if x.sum() > 0:
            z = self.scale * 2
        else:
            z = x * 2
        return z


def module(x, scale):
    return Block(scale)(x)


def closure(x, y):
    @torch.compile(backend="eager")
    def inner(x):
        if x.sum() > 0:
            z = y * 2
        else:
            z = x * 2
        return z

    return inner(x)


CONFIG = types.SimpleNamespace(scale=None)


@torch.compile(backend="eager")
def _attribute_of_a_global(x):
    if x.sum() > 0:
        z = CONFIG.scale * 2
    else:
        z = x * 2
    return z


def attribute_of_a_global(x, scale):
    CONFIG.scale = scale
    return _attribute_of_a_global(x)


@torch.compile(backend="eager")
def _one_tensor_under_two_names(x, y, w):
    if x.sum() > 0:
        z = y * 2
    else:
        z = x * 2
    return z


def one_tensor_under_two_names(x, y):
    return _one_tensor_under_two_names(x, y, y)


@torch.compile(backend="eager")
def branch_in_an_arm(x, y):
    if x.sum() > 0:
        if y.sum() > 0:
            z = y * 2
        else:
            z = y * 3
    else:
        z = x * 2
    return z


@torch.compile(backend="eager")
def without_dimensions(x, y):
    if x.sum() > 0:
        z = x * y
    else:
        z = x * 2
    return z


@torch.compile(backend="eager")
def first_call_differs(x, y):
    if x.sum() > 0:
        z = y * 2
    else:
        z = x * 2
    return z


@torch.compile(backend="eager")
def _last_call_differs(x, y):
    if x.sum() > 0:
        z = y * 2
    else:
        z = x * 2
    return z


def last_call_differs(x, y, times):
    for _ in range(times):
        z = _last_call_differs(x, y)
    return z


@torch.compile(backend="eager")
def _another_layout(x, y):
    if x.sum() > 0:
        z = y * 2
    else:
        z = x * 2
    return z


def another_layout(x, sparse):
    y = torch.ones(3, 3)
    z = _another_layout(x, y.to_sparse() if sparse else y)
    return z.to_dense(), str(z.layout)


@torch.compile(backend="eager")
def _recompile_limit(x, n, y):
    a = x * n
    if a.sum() > 0:
        z = a * 2
    else:
        z = y * 2
    return z


def recompile_limit(x, n, y):
    return _recompile_limit(x, n, y)


def entry(name, *arguments):
    return globals()[name](*arguments)
