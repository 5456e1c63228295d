import copy

import torch


class Bag(list):
    pass


@torch.compile
def f(x: torch.Tensor, bag, text):
    y = copy.copy(x)
    other = copy.copy(bag)
    other.append(y)
    text = copy.copy(text)
    return other, copy.copy(bag[0].shape), text
