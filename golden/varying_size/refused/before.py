"""Sizes that no mark can open, and calls that no mark can stand before."""

import torch

W = torch.ones(4, 3)


@torch.compile
def product(x):
    return x @ W


@torch.compile
def compared(x):
    return x * 2 if x.shape[0] == 4 else x


@torch.compile
def pair(x):
    return x + 1


@torch.compile
def one(x):
    return x * 2


@torch.compile
def outer(x):
    return pair(x) * 2


def main(x):
    found = [pair(part) for part in (x, x)]
    found.append(pair(x) if x.numel() > 2 else None)
    return found, outer(x), one(x[:1]), one(x), compared(x)
