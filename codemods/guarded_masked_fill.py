"""`if mask.any(): x = x.masked_fill(mask, value)`, or `x[mask] = value`: fill without asking.

The question only saves work: where the mask is false everywhere, the fill changes nothing. Asking it ends
the graph (GB0170).

Before:

    if mask.any():
        x = x.masked_fill(mask, 0.0)

After:

    x = x.masked_fill(mask, 0.0)

The mask must be the same expression in both places. `torch.masked_fill`, `torch.where(mask, value, x)`,
`torch.any(mask)`, `mask.sum() > 0` and `.item()` are known too.

Fills in place, `x[mask] = value` and `x.masked_fill_(mask, value)`, are made each time, too, where the index is shown
to be a mask (zeros of an integer index name the first row) and the value is a number, or a tensor that fits one row
(one with as many values as the mask selects would not fit another number of them). They are assumed to be allowed:
that backward does not need the old value, that the new value needs no gradient, and that the tensor is not expanded.

Stays away from `nan_to_num` under `isnan().any()` (it changes infinities as well), and from
clamps under `(x > c).any()`, whose gradient differs at the bound.

Source: torch.Tensor.masked_fill, torch.compile troubleshooting (GB0170).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._branches import MASKED, findings_of
from gbfix.engine.model import Rule

RULE = Rule(
    *MASKED,
    "a fill guarded by the question whether its mask is true anywhere",
    __doc__,
    partial(findings_of, rule=MASKED),
)
