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
        results.append(scaled(batch))
    first, second, third, *_ = batches
    if scaled(x=second, shift=1.0)[1] > 0:
        results.append("positive")
    with th.no_grad(): results.append(scaled(first, 3.0))
    total = scaled(
        # doubled
        th.cat(
            [first, second]
        ),
        shift=2.0,
    )[1] + scaled(third)[1]
    text = f"{scaled(third)[1]:.1f}"; results.append(text)
    fresh = scaled(th.ones(7))[0]
    return results, total, fresh
