"""A tensor indexed by a tensor without dimensions, or by a number read out of one: index by a tensor of one index.

`x[t]` with a 0-d `t`, `x[t.item()]` and `x[int(t)]` make Python read the index, so Dynamo ends the graph there
(GB0033, GB0124). A tensor with one index is looked up inside of the graph, and the dimension that it adds is taken
out again.

Before:

    best = scores.argmax().item()
    y = x[best] * 2.0

After:

    best = scores.argmax()
    y = x[best.reshape(1)][0] * 2.0

Negative indices count from the end in both forms, and one that is out of range raises the same IndexError.

Stays away, with the reason, from assignments to `x[t]`, from several indices at once other than slices, from lists
and other containers, and from indices that may be bool.

`x[t]` is a view of x and the new form is a copy. Where the element goes straight into an element-wise operation, nobody
can tell; elsewhere the fix assumes that nobody writes through it, or to x while it is used, and that the order of a
sum, which follows the strides, may change. It also relies on x having a dimension and on
the device of the index.

Source: torch.compile troubleshooting (GB0033, GB0124).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._scalar_sites import INDEX, findings_of
from gbfix.engine.model import Rule

RULE = Rule(*INDEX, "a tensor indexed by the value of a tensor", __doc__, partial(findings_of, rule=INDEX))
