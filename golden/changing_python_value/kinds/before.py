import torch

scale = 1


@torch.compile
def rounds(x: torch.Tensor, n):
    for i in range(n):
        x = x + i
    return x * scale


@torch.compile(backend="eager")
def chosen(xs, mode):
    return sum(xs) * len(mode)


def next_scale():
    global scale
    scale += 1


def f(x):
    results = []
    for n in (1, 2, 3):
        results += [rounds(x, n), chosen([x] * n, "a" * n), (lambda y: y * n)(x)]
        next_scale()
    return results
