"""`for` loops that end when a tensor says so, or fill rows up to a length in a tensor: run every round.

A branch on a tensor that leaves a loop ends the graph, and a break inside a loop makes Dynamo give up the whole
frame (GB0170, GB7000). A bound that is read out of a tensor does the same (GB0124).

Before:

    for i in range(5):
        x = x * 0.5
        if x.sum() < 1:
            break

After:

    done = torch.zeros_like(x.sum() < 1)
    for i in range(5):
        condition = ~done
        x_true = x * 0.5
        x = torch.where(condition, x_true, x)
        done = torch.where(condition, x_true.sum() < 1, done)

Every round is computed, and what it changes is kept as long as the loop would have run: all that a branch
needs to become `torch.where` (GBF101) is needed here. The bound of the loop is the price.

`for i in range(n): mask[i, : lengths[i]] = True` becomes one `masked_fill_` with a comparison of positions and
lengths, which is right when no length is negative and each row has one.

Stays away from branches that do more than leave at the end of a round, loops whose variable is read afterwards, and
`range(n)` of a tensor, for which no bound is known.

Source: torch.where, torch.compile troubleshooting (GB0170, GB7000, GB0124).
"""

from __future__ import annotations

from gbfix.codemods._mask_loops import LOOP, loop_findings
from gbfix.engine.model import Rule

RULE = Rule(*LOOP, "a loop whose rounds depend on a tensor", __doc__, loop_findings)
