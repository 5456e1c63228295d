import importlib

import torch


@torch.compile
def f(x: torch.Tensor):
    y = x + 1.0
    import math as module
    import xml.dom as dom
    return y * module.pi, dom.__name__
