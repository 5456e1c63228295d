"""Several statements on one line, or one line that runs several times: what is seen at a line is not of one moment."""
# fmt: off

import torch


@torch.compile(backend="eager")
def control(x, y):
    """The one that can be fixed: all on one line, and nothing changes."""
    t = y.sum()
    z = y * 2 if x.sum() > 0 else x * 2
    return z, t


@torch.compile(backend="eager")
def other_statement_before_the_branch(x, y):
    y = y.double(); z = y * 2 if x.sum() > 0 else x * 2
    return z


@torch.compile(backend="eager")
def other_statement_in_an_arm(x, y):
    if x.sum() > 0: y = y.double(); z = y * 2
    else: z = x * 2
    return z


@torch.compile(backend="eager")
def loop(x, y, ys):
    z = x
    for y in ys: z = y * 2 if z.sum() > 0 else x * 3
    return z


@torch.compile(backend="eager")
def loop_that_calls_a_helper(x, ys):
    results = []
    for y in ys: results.append(helper(x, y))
    return results


def helper(x, y):
    if x.sum() > 0: z = y * 2
    else: z = x * 2
    return z


@torch.compile(backend="eager")
def comprehension(x, ys):
    return [y * 2 if x.sum() > 0 else x * 2 for y in ys]


@torch.compile(backend="eager")
def _gradients_on_in_one_line(x, y):
    with torch.no_grad():
        with torch.enable_grad(): z = torch.sqrt(y) if x.sum() > 0 else y * 2
    return z


def gradients_on_in_one_line(x, y):
    y = y.clone().requires_grad_()
    _gradients_on_in_one_line(x, y).sum().backward()
    return y.grad


def entry(name, *arguments):
    return globals()[name](*arguments)
