import warnings

import torch


@torch.compile
def two_ends(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x.sin()
    warnings.warn(f"y has {y.shape}")
    if flag:
        return y.cos()
    return y.exp()


@torch.compile
def caught(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("nobody sees it")
        y = y.cos()
    return y.exp()


def entry(x, flag):
    return two_ends(x, flag), caught(x)
