import sys
import torch as th


@th.compile
def f(x: th.Tensor, n: int = 3, name: str = "{x}"):
    """Say a lot about one tensor."""
    y = x * 2
    total = y.sum()
    th._higher_order_ops.print("")  # an empty line
    th._higher_order_ops.print("plain {{braces}}|100|%|None|True|-1.5")
    th._higher_order_ops.print(
        "sum {:.3f} {:>12.4e} {} {!r:>6} {:03d} n={!r}",
        total,
        total,
        total,
        name,
        n,
        n,
    )
    th._higher_order_ops.print(
        "item {} {} {} {} {}",
        total,
        y.argmax(),
        total > 0,
        y.argmax(),
        y.argmax().double(),
    )
    th._higher_order_ops.print("{:d} items of {!s:<8}, {:6.2f}% {!s}\n", n, name, total.detach(), n)
    th._higher_order_ops.print("{} {} {!r} {:>5}", name, n, n, name)
    th._higher_order_ops.print("sizes {!s} {} {!s}", x.size(0), str(x.dtype), len(x))
    # with a comment
    th._higher_order_ops.print(
        "several lines,\n  {},\n  {!s},\n  {!s}",
        total,
        y.shape[0],
        type(x).__name__,
    )
    th._higher_order_ops.print('joined a-{:.1f}-{!s}"\'', total, n)
    th._higher_order_ops.print("{!s} {!s} {!s}", x > 1, y.detach(), "=" * 10)
    th._higher_order_ops.print("written {:.2f}", total)
    return y + total
