"""A condition that joins a Python test and a tensor test: keep the first an `if`, select by the second.

`x.dtype == torch.float16 and x.isinf().any()` needs the tensor's value only in half precision. The Python half
costs nothing, since Dynamo decides it while capturing; taken into the select it would compute the guarded
operation for every dtype, or fail (`m is not None and m.any()`). So it stays a Python `if`, and only the
tensor half becomes a select.

Before:

    if x.dtype == torch.float16 and torch.isinf(x).any():
        limit = torch.finfo(x.dtype).max - 1000
        x = torch.clamp(x, min=-limit, max=limit)

After:

    if x.dtype == torch.float16:
        limit = torch.finfo(x.dtype).max - 1000
        x = torch.where(torch.isinf(x).any(), torch.clamp(x, min=-limit, max=limit), x)

`or` keeps the body under the Python `if` and the select under its `else`. The side that both halves share is
written twice, so it must be short. A Python test that stood behind the tensor test is now asked first, which is said.

Stays away from mixtures inside `elif` and inside other sides, and for every reason of tensor-value-branch.

Source: torch.where, torch.compile troubleshooting (GB0170).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._branches import MIXED, findings_of
from gbfix.engine.model import Rule

RULE = Rule(
    *MIXED, "an `if` whose condition joins a Python test and a tensor test", __doc__, partial(findings_of, rule=MIXED)
)
