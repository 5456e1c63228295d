"""A branch on a tensor's value whose sides return: return one selected value.

The graph ends at the `if` (GB0170), and every side becomes a graph of its own. An early return is the same
branch, with the rest of the function as its other side.

Before:

    if x.sum() > 0:
        return x * 2.0
    y = x + 1.0
    return y * 3.0

After:

    y = x + 1.0
    return torch.where(x.sum() > 0, x * 2.0, y * 3.0)

Tuples are selected element by element, and what both sides return alike is returned as it is.

Stays away when one side returns None or nothing, when the code after an early return does more than
compute, and for every reason of tensor-value-branch. `return x` used to return the argument itself; the
selected value is a new tensor, which is said when it cannot be proved harmless.

Source: torch.where, torch.compile troubleshooting (GB0170).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._branches import RETURNS, findings_of
from gbfix.engine.model import Rule

RULE = Rule(*RETURNS, "an `if` on the value of a tensor that returns", __doc__, partial(findings_of, rule=RETURNS))
