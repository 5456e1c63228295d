import torch


@torch.compile(backend="aot_eager")
def f(x, scale):
    y = x * scale
    torch._higher_order_ops.print("tensors {!s} {!s} {} {!r}", x, y.sum(), scale, y.mean())
    torch._higher_order_ops.print("{:.3f} {!s}", y.mean(), scale)
    torch._higher_order_ops.print("shapes {} {}", str(y.shape), str(list(x.shape)))
    return y
