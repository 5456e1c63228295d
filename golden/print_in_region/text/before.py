import sys
import torch as th


@th.compile
def f(x: th.Tensor, n: int = 3, name: str = "{x}"):
    """Say a lot about one tensor."""
    y = x * 2
    total = y.sum()
    print()  # an empty line
    print("plain {braces}", 100, "%", None, True, -1.5, sep="|")
    print(f"sum {total:.3f} {total:>12.4e} {total} {name!r:>6} {n:03d} {n=}")
    print("item", total.item(), y.argmax().item(), bool(total > 0), int(y.argmax()), float(y.argmax()))
    print("%d items of %-8s, %6.2f%% %s" % (n, name, total.detach(), n), end="\n\n")
    print("{1} {0} {0!r} {1:>5}".format(n, name))
    print("sizes", x.size(0), x.dtype, len(x))
    print(
        "several lines",  # with a comment
        total.item(),
        y.shape[0],
        type(x).__name__,
        sep=",\n  ",
    )
    print("joined " + "-".join(["a", f"{total:.1f}", str(n)]) + '"' + "'")
    print("%s" % (x > 1), f"{y.detach()!s}", "=" * 10, file=sys.stdout)
    sys.stdout.write(f"written {total:.2f}\n")
    return y + total
