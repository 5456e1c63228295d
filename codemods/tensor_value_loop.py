"""A loop whose end depends on a tensor's value: found and explained, never rewritten.

`while err > eps:` reads the tensor before every round. Dynamo ends the graph there, and a break inside a loop
makes it give up the whole frame: nothing of the function is compiled.

torch.while_loop is not a general answer: its gradient is wrong when the loop runs zero times, and it refuses
aliases, writes and changing shapes. A fixed number of rounds with a mask (`x = torch.where(done, x, step(x))`) is
right when a bound is known, which the source does not say.

Before and after:

    while x.norm() > 1.0:
        x = x * 0.5

Source: torch.while_loop, torch.compile troubleshooting (GB0170).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._branches import LOOP, findings_of
from gbfix.engine.model import Rule

RULE = Rule(*LOOP, "a `while` on the value of a tensor", __doc__, partial(findings_of, rule=LOOP), rewrites=False)
