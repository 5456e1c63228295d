"""Ways to call one compiled function."""

import torch as th


@th.compile(dynamic=False)
def scaled(x, factor=2.0, *, shift=0.0):
    """Element by element."""
    y = th.relu(x) * factor + shift
    return y, y.sum()


def main(batches):
    results = []
    for batch in batches:  # every batch has its own length
        th._dynamo.maybe_mark_dynamic(batch, 0)
        results.append(scaled(batch))
    first, second, third, *_ = batches
    th._dynamo.maybe_mark_dynamic(second, 0)
    if scaled(x=second, shift=1.0)[1] > 0:
        results.append("positive")
    with th.no_grad():
        th._dynamo.maybe_mark_dynamic(first, 0)
        results.append(scaled(first, 3.0))
    x = th.cat(
        [first, second]
    )
    th._dynamo.maybe_mark_dynamic(x, 0)
    th._dynamo.maybe_mark_dynamic(third, 0)
    total = scaled(
        # doubled
        x,
        shift=2.0,
    )[1] + scaled(third)[1]
    text = f"{scaled(third)[1]:.1f}"; results.append(text)
    x = th.ones(7)
    th._dynamo.mark_dynamic(x, 0)
    fresh = scaled(x)[0]
    return results, total, fresh
