"""Arms that agree in what they hold but not in what they compute: dtypes, sizes, strides, and errors."""

import torch


@torch.compile(backend="eager")
def fixed(i, y):
    """The one that can be fixed: both arms are of the dtype that y was seen to have."""
    t = i.sum()
    if y.sum() > 0:
        z = i * y
    else:
        z = y * 2
    return z, t


@torch.compile(backend="eager")
def _division_of_integers(i, y):
    t = i.sum()
    if y.sum() > 0:
        z = i / 2
    else:
        z = y * 2
    return z, t


def division_of_integers(i, y):
    torch.set_default_dtype(torch.float64)
    try:
        return _division_of_integers(i, y)
    finally:
        torch.set_default_dtype(torch.float32)


@torch.compile(backend="eager")
def _root_of_integers(i, y):
    t = i.sum()
    if y.sum() > 0:
        z = torch.sqrt(i)
    else:
        z = y * 2
    return z, t


def root_of_integers(i, y):
    torch.set_default_dtype(torch.float64)
    try:
        return _root_of_integers(i, y)
    finally:
        torch.set_default_dtype(torch.float32)


@torch.compile(backend="eager")
def quotients(i, y):
    if y.sum() > 0:
        z = torch.true_divide(i, i)
    else:
        z = i.sum() / i + y
    return z


@torch.compile(backend="eager")
def _softmax_under_autocast(x, y):
    t = y.sum()
    if x.sum() > 0:
        z = torch.softmax(x, 0)
    else:
        z = y * 2
    return z, t


def softmax_under_autocast(x, y):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return _softmax_under_autocast(x.bfloat16(), y.bfloat16())


@torch.compile(backend="eager")
def _cat_under_autocast(x, y):
    t = y.sum()
    if x.sum() > 0:
        z = torch.cat([x, y])
    else:
        z = torch.cat([x, x])
    return z, t


def cat_under_autocast(x, y):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return _cat_under_autocast(x.bfloat16(), y)


@torch.compile(backend="eager")
def integers_to_a_power(i, n):
    if i.sum() > 0:
        z = i**n
    else:
        z = i * 2
    return z


@torch.compile(backend="eager")
def integers_to_a_power_that_the_condition_reads(i, n):
    a = i * n
    if a.sum() > 0:
        z = i**n
    else:
        z = i * 2
    return z


@torch.compile(backend="eager")
def integers_by_a_number(i, n):
    if i.sum() > 0:
        z = i // n
    else:
        z = i * 2
    return z


@torch.compile(backend="eager")
def integers_by_a_tensor(i, d):
    if d.sum() > 0:
        z = i // d
    else:
        z = i * 2
    return z


@torch.compile(backend="eager")
def sizes_agree_in_some_runs(x, y, c):
    n = x.shape[0] // 16
    m = y.shape[0] // 16
    a = x[:n] * 1.0
    b = y[:m] * 1.0
    if c.sum() > 0:
        z = a * 2
    else:
        z = b * 2
    return z


@torch.compile(backend="eager")
def maximum_of_what_may_be_empty(x, c):
    y = x[2:]
    if c.sum() > 0:
        z = y.max() * 2
    else:
        z = x.sum() * 2
    return z


@torch.compile(backend="eager")
def strides_of_one_row(x, y):
    if x.sum() > 0:
        z = x * 2
    else:
        z = y * 2
    return z


@torch.compile(backend="eager")
def strides_of_a_sum(x, y, c):
    if c.sum() > 0:
        z = x + y
    else:
        z = x * 2
    return z


def entry(name, *arguments):
    return globals()[name](*arguments)
