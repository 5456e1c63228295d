import warnings
from warnings import warn

import torch


@torch.compile
def cast(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    if x.dtype != torch.float16:
        warnings.warn("x is cast", UserWarning, stacklevel=2)
    return y.half()


class Slow(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.ndim < 2:
            y = x.sin()
        else:
            y = x.cos()
        warn(f"slow path for {tuple(y.shape)}")
        z = y.exp()
        print("behind", z.dtype)
        return z * 2


slow = torch.compile(Slow())


def entry(x):
    return cast(x), slow(x)
