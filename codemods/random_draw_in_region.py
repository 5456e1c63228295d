"""A number drawn from Python's or NumPy's random generator within a compiled function.

`random.random()`, `random.choice(...)`, `random.sample(...)`, `random.shuffle(...)`, `random.Random(...).choice(...)`
and NumPy's generators end the graph (GB0007, GB0156), so that each call draws anew. `random.randint`, `random.uniform`
and `random.randrange` are followed by PyTorch 2.13, and `random.random` by 2.14: those are left alone.

Before:

    @torch.compile
    def f(x: torch.Tensor):
        y = x * 2.0
        if random.random() < 0.5:
            y = y + 1.0
        return y

After:

    @torch.compile
    def _f_graph(x: torch.Tensor, *, drawn):
        y = x * 2.0
        if drawn < 0.5:
            y = y + 1.0
        return y


    def f(x: torch.Tensor):
        drawn = random.random()
        return _f_graph(x, drawn=drawn)

Where the function is compiled elsewhere, or something else than a number is drawn, the draws move to its start: there
they cost one break and no graph. All draws of a function move together and keep their order. A number as an argument
is compiled again for its second value and is free from then on.

NumPy's global generator is another case: Dynamo takes `np.random.rand` for a draw of torch's, whose numbers are others,
and ends the graph where one is read as a Python number. A helper that does so in every call, and otherwise works with
Python's and NumPy's values, is left out of what is compiled: its pieces are no graphs any more, one break stays at its
call, and the numbers are those that are drawn without torch.compile.

    # Before                                 # After
    def spans(shape, share: float):          @torch.compiler.disable(reason="draws numbers with NumPy")
        by = np.random.rand(1).item()        def spans(shape, share: float):
        ...                                      by = np.random.rand(1).item()
                                                 ...

Stays away, and says so, from a draw that may not happen or happens several times (in a loop, a comprehension, behind
`and`), when another draw that stays comes before it, when the function may return or raise before, and when its
arguments are not there at the start. `random.randint` is followed, but not as an index of a tensor (GB0033): that is
reported. It assumes, where it cannot be shown, that what comes before cannot fail.

Source: PyTorch's GB0007, GB0156, GB0033.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.analysis.values import Kind
from gbfix.codemods._drawing_helpers import drawing_helpers
from gbfix.codemods._early import moved_finding, moves
from gbfix.codemods._host_calls import Reads
from gbfix.codemods._host_sites import HostSite, host_sites
from gbfix.codemods._idioms import sites
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.model import Finding, Rule

NAME = ("GBF321", "random-draw-in-region")
_WHOLE = ("random.randint", "random.randrange")
_ADVICE = (
    "draw before the compiled function is called and pass the number in: it is compiled a second time for the second "
    "number and is free from then on; or draw with torch.rand, whose numbers are others"
)


def find(view: FileView) -> Iterator[Finding]:
    """The draws of one file."""
    for site in host_sites(view, (Reads.DRAW, Reads.NUMPY_DRAW)):
        message = f"{site.call.name} draws a number within a compiled function"
        moved = moves(view).get(site.call.node)
        yield _refused(site, message) if moved is None else moved_finding(site, NAME, message, moved)
    yield from _drawn_indices(view)
    yield from drawing_helpers(view, NAME)


def _drawn_indices(view: FileView) -> Iterator[Finding]:
    """Whole numbers that are drawn to index a tensor: Dynamo follows the draw, and then has to know the number."""
    for site in sites(view, ast.Call):
        outer = view.source.parents.get(site.node)
        if site.called() not in _WHOLE or not isinstance(outer, ast.Subscript) or outer.slice is not site.node:
            continue
        if site.value(outer.value).kind is Kind.TENSOR and not view.project.torch.captures("drawn index"):
            claim = "a tensor is indexed with what is known"
            reason = f"{site.text(site.node).splitlines()[0]} is another number at each call"
            message = f"{site.called()} draws an index within a compiled function"
            yield site.refusal(NAME, message, RefusedError(claim, reason, site.line, _ADVICE))


def _refused(site: HostSite, message: str) -> Finding:
    refused = RefusedError(
        "the numbers are drawn in the same order",
        f"{site.text} draws from {site.call.reads.value}, whoever else draws from it",
        site.call.node.lineno,
        _ADVICE,
    )
    return site.refusal(NAME, message, refused)


RULE = Rule(*NAME, "a draw from Python's or NumPy's random generator within a compiled function", __doc__, find)
