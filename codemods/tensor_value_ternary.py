"""A conditional expression on a tensor's value: select with torch.where.

`a if t else b` reads `t` like an `if` does and ends the graph (GB0170), also in the middle of an expression.

Before:

    y = x + (x.abs() if x.mean() < 0 else x.neg())

After:

    y = x + torch.where(x.mean() < 0, x.abs(), x.neg())

Stays away inside comprehensions, lambdas that are not compiled themselves and f-strings, and for every
reason of tensor-value-branch.

Source: torch.where, torch.compile troubleshooting (GB0170).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._branches import TERNARY, findings_of
from gbfix.engine.model import Rule

RULE = Rule(*TERNARY, "a conditional expression on the value of a tensor", __doc__, partial(findings_of, rule=TERNARY))
