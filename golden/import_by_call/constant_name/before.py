import importlib

import torch


@torch.compile
def f(x: torch.Tensor):
    y = x + 1.0
    module = importlib.import_module("math")
    dom = importlib.import_module("xml.dom")
    return y * module.pi, dom.__name__
