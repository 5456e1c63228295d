"""Elements of one tensor that a loop reads one by one: read all of them at once, before the loop.

Each `.item()`, `int(t[i])` or `float(t[i])` makes Python wait for a value, so Dynamo ends the graph there (GB0124).
Within a loop it even gives up the whole function. One `tolist()` before the loop is one break, and what comes after
it is compiled with the numbers.

Before:

    for i in range(len(starts)):
        y = y + x[int(starts[i].item()) :].sum()

After:

    starts_values = starts.tolist()
    for i in range(len(starts)):
        y = y + x[int(starts_values[i]) :].sum()

Handles loops over `range` whose own index says which element is read. Numbers that can stay tensors belong to
item-in-arithmetic.

Stays away, with the reason, when the loop writes the tensor or sets its name, and when the tensor has another number
of dimensions than one. What it relies on and cannot always prove: that the tensor has one dimension, that no index is
outside of it (the text of the IndexError is another one for a list), and that functions called in the loop do not
write it.

The numbers are compiled as constants first, and as symbols from the second different call on.

Source: torch.compile troubleshooting (GB0124).
"""

from __future__ import annotations

from gbfix.codemods._repeated_items import REPEATED, repeated_findings
from gbfix.engine.model import Rule

RULE = Rule(*REPEATED, "elements of one tensor read one by one in a loop", __doc__, repeated_findings)
