import os

import torch


def f(x: torch.Tensor) -> torch.Tensor:
    if torch.isnan(x).any():
        os._exit(3)
    return x * 2
