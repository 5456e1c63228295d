"""Sizes, positions and indices computed from the values of tensors, in several pieces.

Each `.tolist()`, `nonzero()`, `x[mask]` or `repeat_interleave(t)` ends the graph (GB0033, GB0036, GB0124), and so does
a branch on a value that cannot be selected (GB0170). One in a loop leaves the whole function to Python, so that what is
computed between them is compiled in fragments, again for each other image or length. There is nothing to gain from
graphs of such index arithmetic: in a function that is not compiled it costs one break.

Before:

    def positions(grid: torch.Tensor) -> torch.Tensor:
        found = []
        for t, h, w in grid.tolist():
            found.append(torch.arange(h * w).repeat(t))
        index = torch.cat(found)
        return index[index % 2 == 0]

After:

    @torch.compiler.disable(reason="computes indices from the values of tensors")
    def positions(grid: torch.Tensor) -> torch.Tensor:
        found = []
        for t, h, w in grid.tolist():
            found.append(torch.arange(h * w).repeat(t))
        index = torch.cat(found)
        return index[index % 2 == 0]

Where the function may return before, because the indices were given to it, or has decorators, only the part behind
becomes a function of its own under `torch.compiler.disable`.

Stays away from functions that compute anything else, where a graph is of use, and from what is compiled itself. Only
for functions that are called from there, break at least twice, or in a loop, and compute nothing but indices until they
end: operations that make, arrange, choose and count, Python's own containers and numbers, and functions of the same
file that do no more. Results are those of Python in both cases. What remains is one explicit break at the call, which a
caller that compiles with `fullgraph=True`, or exports strictly, would not allow: that such a caller does not exist is
what a run shows by breaking there, and is assumed without one.

Source: torch.compile troubleshooting, torch.compiler.disable (GB0033, GB0036, GB0098, GB0124, GB0170).
"""

from __future__ import annotations

from gbfix.codemods._host_tails import INDICES, index_findings
from gbfix.engine.model import Rule

RULE = Rule(
    *INDICES, "sizes and indices computed from the values of tensors, in several pieces", __doc__, index_findings
)
