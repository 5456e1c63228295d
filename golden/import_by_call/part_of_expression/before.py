import importlib

import torch

name = "math"


@torch.compile
def f(x: torch.Tensor):
    y = x + 1.0
    first = importlib.import_module(name)
    second = importlib.import_module("math").pi
    third = __import__("xml.dom")
    return y * first.pi + second, third
