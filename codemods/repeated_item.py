"""Numbers of one tensor that are read one by one: read all of them at once.

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

Handles loops over `range` whose own index says which element is read; elements with constant indices that one or
several statements read, as in `h, w = size[0].item() // 2, size[1].item() // 2`; and `t.tolist()` that several
statements repeat, or a comprehension for each of its elements; and loops over the rows of a tensor of integers
(`for height, width in shapes`) whose elements are sizes, bounds or steps, which becomes a loop over
`shapes.tolist()`. Numbers that can stay tensors belong to
item-in-arithmetic.

Stays away, with the reason, when something in between writes the tensor or sets its name, and when the tensor has
another number of dimensions than one. What it relies on and cannot always prove: that the tensor has one dimension,
that no index is outside of it (the text of the IndexError is another one for a list), and that functions called in
between do not write it.

The numbers are compiled as constants first, and as symbols from the second different call on.

Source: torch.compile troubleshooting (GB0124).
"""

from __future__ import annotations

from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.codemods._repeated_items import REPEATED, repeated_findings
from gbfix.codemods._repeated_reads import read_findings
from gbfix.codemods._rows_of_numbers import row_findings
from gbfix.engine.model import Finding, Rule


def _find(view: FileView) -> Iterator[Finding]:
    yield from repeated_findings(view)
    yield from read_findings(view)
    yield from row_findings(view)


RULE = Rule(*REPEATED, "numbers of one tensor read one by one", __doc__, _find)
