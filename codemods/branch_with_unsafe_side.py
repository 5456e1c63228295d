"""A branch whose sides must not both run: torch.cond, which runs one.

torch.where computes both sides. Where the derivative of one side is infinite (division, sqrt, log, pow), the zero
gradient it receives when it is not taken becomes NaN; where it divides integers by zero, it raises. `torch.cond`
captures both sides and runs one.

Before:

    if n.sum() > 0:
        y = x / n
    else:
        y = x * 0.0

After:

    y = torch.cond(n.sum() > 0, lambda: x / n, lambda: x * 0.0)

A side that returns a tensor it was given is cloned, since torch.cond refuses aliases. In code that also runs
uncompiled, torch.cond costs far more than the `if` did, because it compiles its sides.

Stays away when a side draws random numbers (its gradient would use other numbers than the value did), reads a Python
float (the second value raises), writes, prints, raises, needs several statements, or when dtype, shape and strides
of the sides differ. Second derivatives, torch.func and checkpoint do not go through torch.cond; that they are
not used is assumed unless gradients are off in the source. A torch.cond that cannot be captured is an error,
where the `if` was only slow.

Source: torch.cond, torch.compile troubleshooting (GB0170).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._branches import ONE_SIDE, findings_of
from gbfix.engine.model import Rule

RULE = Rule(
    *ONE_SIDE, "a branch on a tensor with a side that must not always run", __doc__, partial(findings_of, rule=ONE_SIDE)
)
