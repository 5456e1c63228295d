"""Lines that hold several statements or run more than once in a call, in other frames or in another thread."""

import threading

import torch


# fmt: off
@torch.compile(backend="eager")
def fixed_in_one_line(x, y):
    """One that can be fixed: y is what it was seen to be in this line."""
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
def loop_in_one_line(x, y, ys):
    z = x
    for y in ys: z = y * 2 if z.sum() > 0 else x * 3
    return z


@torch.compile(backend="eager")
def loop_that_calls_a_helper_in_one_line(x, ys):
    results = []
    for y in ys: results.append(one_line_helper(x, y))
    return results


def one_line_helper(x, y):
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
# fmt: on


def in_a_thread(function, *arguments):
    results = []
    thread = threading.Thread(target=lambda: results.append(function(*arguments)))
    thread.start()
    thread.join()
    return results[0]


def fixed_helper(x, y):
    """One that can be fixed: it is called twice in the same way."""
    if x.sum() > 0:
        z = y * 2
    else:
        z = x * 2
    return z


@torch.compile(backend="eager")
def two_like_calls(x, y):
    t = y.sum()
    return fixed_helper(x, y), fixed_helper(x + 1, y), t


def helper(x, y):
    if x.sum() > 0:
        z = y * 2
    else:
        z = x * 2
    return z


@torch.compile(backend="eager")
def helper_is_called_twice(x, y, v):
    return helper(x, y), helper(x, v)


@torch.compile(backend="eager")
def recursion(x, y, n):
    if x.sum() > 0:
        z = y * 2
    else:
        z = x * 2
    return z if n == 0 else recursion(z, y.double() if n == 1 else y, n - 1)


def _generator(x, ys):
    for y in ys:
        if x.sum() > 0:
            z = y * 2
        else:
            z = x * 2
        yield z


@torch.compile(backend="eager")
def generator(x, ys):
    return list(_generator(x, ys))


@torch.compile(backend="eager")
def _loop(x, y):
    z = x
    for i in range(3):
        if x.sum() > i:
            z = z * 2
        else:
            z = y * 2
    return z


def loop_called_often(x, y, times):
    for _ in range(times):
        z = _loop(x, y)
    return z


@torch.compile(backend="eager")
def _loop_of_known_sides(x, y):
    t = y.sum()
    for i in range(2):
        if x.sum() > i:
            z = x * 2
        else:
            z = y * 2
    return z, t


def loop_of_known_sides(x, y, times):
    for _ in range(times):
        z = _loop_of_known_sides(x, y)
    return z


@torch.compile(backend="eager")
def _thread(x, y):
    if x.sum() > 0:
        z = x * 2
    else:
        z = y * 2
    return z


def thread(x, y, other):
    return in_a_thread(_thread, x, y) if other else _thread(x, y)


@torch.compile(backend="eager")
def _loop_in_a_thread(x, y):
    z = x
    for i in range(3):
        if x.sum() > i:
            z = z * 2
        else:
            z = y * 2
    return z


def loop_in_a_thread(x, y, other):
    return in_a_thread(_loop_in_a_thread, x, y) if other else _loop_in_a_thread(x, y)


@torch.compile(backend="eager")
def _loop_that_prints(x, y):
    z = x
    for i in range(2):
        if z.sum() > 0:
            z = x * 2
        else:
            z = y * 2
        print(i)
    return z


def loop_that_prints_in_a_thread(x, y, other):
    return in_a_thread(_loop_that_prints, x, y) if other else _loop_that_prints(x, y)


@torch.compile(backend="eager")
def _loop_of_known_sides_in_a_thread(x, y):
    t = y.sum()
    for i in range(2):
        if x.sum() > i:
            z = x * 2
        else:
            z = y * 2
    return z, t


def loop_of_known_sides_in_a_thread(x, y, other):
    return in_a_thread(_loop_of_known_sides_in_a_thread, x, y) if other else _loop_of_known_sides_in_a_thread(x, y)


def entry(name, *arguments):
    return globals()[name](*arguments)
