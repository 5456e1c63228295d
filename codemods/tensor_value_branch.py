"""A branch on a tensor's value, assigning tensors: select with torch.where.

Python must know the value to take a side, so Dynamo ends the graph at the `if` (GB0170, "Data-dependent
branching"), runs the test in Python and captures each side apart. When both sides only compute tensors of the
same kind, both can be computed and the right one selected, and the graph goes on.

Before:

    if x.sum() > 0:
        y = x * 2.0
    else:
        y = x + 1.0

After:

    y = torch.where(x.sum() > 0, x * 2.0, x + 1.0)

Handles if/elif/else, a missing else (the old value is the other side), nested branches, several targets, tuple
targets, conditions through a name, `.item()`, `bool()`, `float()`, comparisons, chained comparisons, `and`,
`or`, `not` and `:=`. A side may begin by preparing an attribute, see branch-around-call.

Stays away, with the reason, when a side prints, raises, loops, draws random numbers, calls something
unknown or writes in place; when a side is a Python number or None; when the sides have another dtype or
rank; when an operation of one side has an infinite derivative (see branch-with-unsafe-side); and from
every test on shape, dtype, device, `training`, None or configuration, which is no break.

What it relies on and cannot always prove, and then says: that unannotated names are tensors, that both sides
have the same shape and dtype, that the side not taken cannot fail or warn, that gradients stay the same, and that
nobody relies on the result being the same object as before. A gradient of exactly -0.0 may become 0.0, since
the side not taken adds a zero.

Source: torch.where, torch.compile troubleshooting (GB0170).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._branches import BRANCH, findings_of
from gbfix.engine.model import Rule

RULE = Rule(
    *BRANCH, "an `if` on the value of a tensor that assigns tensors", __doc__, partial(findings_of, rule=BRANCH)
)
