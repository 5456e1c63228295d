"""Numbers that Python reads out of a tensor, though the list that the tensor was made from is still there.

A loop over a tensor of sizes gives tensors. Where they are bounds, sizes or steps, Python has to wait for each of them,
so that every one ends the graph (GB0124, GB0033); within a loop, Dynamo gives up the whole function. The list has the
same numbers, and nobody waits for them.

Before:

    sizes = [(y.shape[1], y.shape[2]), (z.shape[1], z.shape[2])]
    shapes = torch.tensor(sizes, dtype=torch.int64)
    start = 0
    for height, width in shapes:
        x = x + x[start : start + height * width].sum()
        start += height * width

After:

    sizes = [(y.shape[1], y.shape[2]), (z.shape[1], z.shape[2])]
    shapes = torch.tensor(sizes, dtype=torch.int64)
    start = 0
    for height, width in sizes:
        x = x + x[start : start + height * width].sum()
        start += height * width

Where the loop stands in a function or method that is given the tensor, the call passes the list in its place, and the
function stays as it is. A parameter has the list of another one where all calls of the file pass a tensor and the
list that it is made from.

Stays away, with the reason, when the list or the tensor may have changed since, when nothing shows that the list holds
integers, when the tensor has another dtype than int64, and when an element is used in a way that tells a number from a
tensor: it is returned, kept, compared, printed, divided and rounded, written in place, or one of its methods is
called. So it does when the function is given the tensor by an annotation, or a subclass has another one of its name.
What it relies on and cannot always prove: that calls in between change neither of the two, that other files call and
replace the functions in the same way, and that arithmetic with tensors rounds the same for a number.

Source: torch.compile troubleshooting (GB0124).
"""

from __future__ import annotations

from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.codemods._listed_reads import LISTED, listed_reads
from gbfix.codemods._listed_sites import listed_sites
from gbfix.codemods._scalar_reads import captures_scalars
from gbfix.engine.model import Finding, Rule


def _find(view: FileView) -> Iterator[Finding]:
    if captures_scalars(view):
        return
    found = [*listed_reads(view), *(site.finding for site in listed_sites(view))]
    if found and not view.project.torch.captures("item"):
        yield from sorted(found, key=lambda finding: finding.span)


RULE = Rule(*LISTED, "numbers read out of a tensor, though a list has them", __doc__, _find)
