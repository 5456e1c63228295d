"""Two sides that make the same call with other arguments: select the arguments, call once.

The call may do anything: it is made once on either way, as before. Only the arguments that differ are selected.

Before:

    if x.mean() > 0:
        self.update(x, decay=0.9)
    else:
        self.update(x.neg(), decay=0.9)

After:

    self.update(torch.where(x.mean() > 0, x, x.neg()), decay=0.9)

A side may begin by preparing what it passes: an attribute that it makes when it is not there yet
(`if not hasattr(self, "long"): self.long = ...`), or moves to a device (`self.short = self.short.to(device)`). Such
lines are kept as they are, behind the condition, and run on either way now, which is said as an assumption. Where no
other line of the given files names the attribute, a check leaves out whether it is there, and that a buffer registered
from it is a tensor of its own now; its values are compared.

Stays away when the callee, the number of arguments or the keyword names differ, with star arguments, when
an argument that differs is a Python number, and for every reason of tensor-value-branch.

Source: torch.where, torch.compile troubleshooting (GB0170).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._branches import SHARED_CALL, findings_of
from gbfix.engine.model import Rule

RULE = Rule(
    *SHARED_CALL,
    "an `if` on a tensor that only chooses the arguments of one call",
    __doc__,
    partial(findings_of, rule=SHARED_CALL),
)
