import torch
from torch import Tensor


class K:
    t = 0


@torch.compile
@torch.no_grad()
def f(x: Tensor, keep: list):
    a = x * 2.0
    (keep.append(a) or K).t = 1
    if x.sum() > 0:
        a += 1.0
    return a, keep


def inputs():
    return [(torch.tensor(row, requires_grad=True), []) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
