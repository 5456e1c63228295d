import warnings
from warnings import warn

import torch


@torch.compile
def cast(x: torch.Tensor) -> torch.Tensor:
    if x.dtype != torch.float16:
        warnings.warn("x is cast", UserWarning, stacklevel=2)
    y = x.sin()
    return y.half()


class Slow(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.ndim < 2:
            y = x.sin()
        else:
            y = x.cos()
        z = y.exp()
        result = z * 2
        warn(f"slow path for {tuple(y.shape)}")
        torch._higher_order_ops.print("behind {}", str(z.dtype))
        return result


slow = torch.compile(Slow())


def entry(x):
    return cast(x), slow(x)
