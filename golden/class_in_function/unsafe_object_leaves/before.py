import dataclasses

import torch


@torch.compile
def f(x: torch.Tensor):
    y = x * 2.0
    @dataclasses.dataclass
    class Pair:
        first: torch.Tensor
        second: int = 2
    pair = Pair(y)
    return helper(pair) + 1.0


def helper(pair):
    return pair.first * pair.second
