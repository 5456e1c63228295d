"""`x[mask].sum()`: reduce all elements, with a neutral value for those that are not selected.

How many elements a mask selects depends on its values, so that a graph cannot say how large `x[mask]` is, and ends
there (GB0036). A reduction gives one element whatever their number is.

Before:

    return x[x > 0].sum()

After:

    return torch.where(x > 0, x, 0).sum()

Known are `sum`, `mean`, `prod`, `any`, `all`, `count_nonzero`, `max`, `min`, `amax` and `amin` of one selection, of
`torch.masked_select`, of a name that only stands for one, and of what is computed from selections by one mask element
by element (`((a[m] - b[m]) ** 2).mean()`). `torch.where` keeps what is not selected out of the result, also where it
is NaN or infinite. Where a derivative could be infinite there, or a divisor zero, those elements are computed as 1.

Sums of integers and bools are exact in any order. The order of a floating-point sum changes, and with it the last
digits: that fix is unsafe. So is that of the largest or smallest element, which raises when nothing is selected and
gives an infinity afterwards.

Stays away where nothing shows that the index is a bool tensor (an integer index gathers), that the mask has the shape
of the tensor (one with fewer dimensions selects rows), and from what is not element-wise: softmax, std, median. The
work grows: all elements are computed, not the selected ones.

Source: torch.where, torch.masked_select, torch.compile troubleshooting (GB0036).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._masked import REDUCTION, findings_of
from gbfix.engine.model import Rule

RULE = Rule(
    *REDUCTION, "a reduction of the elements that a mask selects", __doc__, partial(findings_of, rule=REDUCTION)
)
