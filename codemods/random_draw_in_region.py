"""A number drawn from Python's or NumPy's random generator within a compiled function.

`random.random()`, `random.choice(...)`, `random.sample(...)`, `random.shuffle(...)`, `random.Random(...).choice(...)`
and NumPy's generators end the graph (GB0007, GB0156), so that each call draws anew. `random.randint`, `random.uniform`
and `random.randrange` are followed by PyTorch 2.13, and `random.random` by 2.14: those are left alone.

What to do: draw in the caller and pass the number in.

    # Before                                 # After
    @torch.compile                           @torch.compile
    def f(x):                                def f(x, scale):
        return x * random.random()               return x * scale

                                             y = f(x, random.random())

A number as an argument is compiled again for its second value and is free from then on; a choice between two ways
through the code is compiled once for each. `torch.rand` inside the function needs no break, but draws other numbers.

Reports each place, and changes nothing: the order of draws would have to stay the same for every caller.

Source: PyTorch's GB0007, GB0156.
"""

from __future__ import annotations

from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.codemods._host_calls import Reads
from gbfix.codemods._host_sites import HostSite, host_sites
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.model import Finding, Rule

NAME = ("GBF321", "random-draw-in-region")
_ADVICE = (
    "draw before the compiled function is called and pass the number in: it is compiled a second time for the second "
    "number and is free from then on; or draw with torch.rand, whose numbers are others"
)


def find(view: FileView) -> Iterator[Finding]:
    """The draws of one file."""
    return (_finding(site) for site in host_sites(view, (Reads.DRAW, Reads.NUMPY_DRAW)))


def _finding(site: HostSite) -> Finding:
    refused = RefusedError(
        "the numbers are drawn in the same order",
        f"{site.text} draws from {site.call.reads.value}, whoever else draws from it",
        site.call.node.lineno,
        _ADVICE,
    )
    return site.refusal(NAME, f"{site.call.name} draws a number within a compiled function", refused)


RULE = Rule(*NAME, "a draw from Python's or NumPy's random generator within a compiled function", __doc__, find)
