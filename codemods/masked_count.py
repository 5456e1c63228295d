"""`len(x[mask])`: count what a mask selects as a tensor.

`x[mask].numel()`, `x[mask].shape[0]`, `len(x[mask])`, `mask.nonzero().shape[0]`, `torch.where(mask)[0].numel()` and
the like gather elements or indices of which only the number is wanted. That number depends on values, and the graph
ends there (GB0036).

Before:

    n = len(x[mask])
    return x.sum() / n

After:

    n = torch.count_nonzero(mask)
    return x.sum() / n

`torch.count_nonzero` gives an int64 tensor without dimensions in place of a Python int. In a sum, a difference or a
product with a tensor, and as a divisor of one, both give the same bits, unless the tensor is an integer narrower than
int64 and has no dimensions either. `max(n, 1)` becomes `.clamp(min=1)`.

A branch may compare the number with a constant. Stays away when something else uses it: `range`, a size, a text,
arithmetic with floats (which Python does in double precision), a quotient with the number on top, or the result of
the function.

Source: torch.count_nonzero, torch.result_type, torch.compile troubleshooting (GB0036).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._masked import COUNT, findings_of
from gbfix.engine.model import Rule

RULE = Rule(*COUNT, "the number of elements that a mask selects", __doc__, partial(findings_of, rule=COUNT))
