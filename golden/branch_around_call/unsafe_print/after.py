import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    torch._higher_order_ops.print("value {!s}", torch.where(x.sum() > 0, x * 2.0, x + 1.0))
    return x * 3.0
