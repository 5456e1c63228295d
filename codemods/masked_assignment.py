"""`y[mask] = f(y[mask])`: compute new values for all elements and choose.

Writing one number where a mask is true stays in the graph. Writing values that are selected themselves does not:
how many there are depends on the mask, and the graph ends there (GB0036).

Before:

    y[mask] = y[mask] * 2

After:

    y.copy_(torch.where(mask, y * 2, y))

`y[mask] = z[mask]`, `y[mask] += c` and other element-wise right sides are known, also of several selections by the same
mask. Whoever shares memory with `y` sees the new values as before. Where nobody does (`y` is new and has no other
name), `y = torch.where(mask, y * 2, y)` is enough.

Backward is right, too: the right side is computed from copies where it is needed again after the write, and with 1
in place of the elements that are not selected where their derivative could be infinite.

Stays away where nothing shows that the index is a mask of the shape of `y`, from right sides that use other elements
(softmax, a sum, random numbers), and where they have another dtype: writing by an index raises then, `torch.where`
converts. All elements are computed, not the selected ones.

Source: torch.where, torch.Tensor.index_put_, torch.compile troubleshooting (GB0036).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._masked import ASSIGNMENT, findings_of
from gbfix.engine.model import Rule

RULE = Rule(*ASSIGNMENT, "selected elements that get selected values", __doc__, partial(findings_of, rule=ASSIGNMENT))
