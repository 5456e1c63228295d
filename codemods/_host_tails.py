"""Functions that end in index arithmetic on the values of tensors: that part is left out of what is compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gbfix.analysis.flow import flow_of
from gbfix.analysis.literals import shorten
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import FunctionNode
from gbfix.analysis.traced import REASON
from gbfix.codemods._branches import branch_findings
from gbfix.codemods._host_tail_text import decorated, extracted
from gbfix.codemods._index_work import other_than_indices
from gbfix.codemods._masked import OPEN, masked_findings
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._repeated_items import kept_spans
from gbfix.codemods._report_functions import NO_FULLGRAPH
from gbfix.codemods._scalar_reads import reads_of
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Span

INDICES = ("GBF506", "index-computation")
GAIN = "the function breaks more than once"
_ONLY = "nothing but indices is computed"
_ADVICE = "compute the indices before the compiled function is called, and pass them in"


@dataclass(frozen=True)
class Tail:
    """The statements of a function that compute indices, and the places in them that break."""

    compiled: CompiledFunction
    function: ast.FunctionDef
    statements: Sequence[ast.stmt]
    sites: Sequence[Span]
    repeated: bool


def index_findings(view: FileView) -> Iterator[Finding]:
    """The functions of a file that compute indices in several pieces."""
    kept = kept_spans(view)
    if kept is None:
        return
    places = [finding.span for finding in masked_findings(view) if finding.code == OPEN[0]]
    places += [finding.span for finding in branch_findings(view) if finding.fix is None]
    for compiled in view.compiled:
        if compiled.fullgraph is not True and compiled.reason.startswith(("called from", REASON)):
            tail = _tail(view, compiled, places, kept)
            if tail is not None:
                yield _finding(view, tail)


def _tail(view: FileView, compiled: CompiledFunction, places: Sequence[Span], kept: set[Span]) -> Tail | None:
    """The part of a function from where it cannot return early any more, if it breaks there and is index arithmetic."""
    function, source = compiled.function.node, view.source
    if not isinstance(function, ast.FunctionDef) or not isinstance(source.parents[function], ast.Module | ast.ClassDef):
        return None
    if any(isinstance(part, ast.Global | ast.Nonlocal) for part in ast.walk(function)):
        return None  # a name would mean another one in a function of its own
    around = source.span(function)
    flow = flow_of(view, compiled.function)
    reads = [source.span(read.node) for read in reads_of(flow) if not read.implicit]
    sites = sorted({span for span in (*reads, *(s for s in places if _holds(around, s))) if span not in kept})
    body = function.body
    first = next((index for index, one in enumerate(body) if any(_holds(source.span(one), s) for s in sites)), None)
    if first is None:
        return None
    start = _after_returns(body, first)
    while start < first and other_than_indices(view, compiled.function, body[start:]) is not None:
        start += 1
    inside = [span for span in sites if source.span(body[start]).start <= span.start]
    repeated = any(_is_repeated(view, body, span) for span in inside)
    if len(inside) < 2 and not repeated:
        return None
    if any(isinstance(part, FunctionNode) for one in body[:start] for part in ast.walk(one)):
        return None  # an inner function may share names with what would move
    if other_than_indices(view, compiled.function, body[start:]) is not None or _asks_for_its_place(body[start:]):
        return None
    return Tail(compiled, function, body[start:], inside, repeated)


def _after_returns(body: Sequence[ast.stmt], first: int) -> int:
    """The index of the statement behind the docstring and everything that may end the function before `first`."""
    start = 0
    for index, statement in enumerate(body[:first]):
        docstring = index == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if docstring or any(isinstance(part, ast.Return | ast.Raise | ast.FunctionDef) for part in ast.walk(statement)):
            start = index + 1
    return start


def _is_repeated(view: FileView, body: Sequence[ast.stmt], span: Span) -> bool:
    """True when a loop comes by a place again and again."""
    for statement in body:
        for loop in ast.walk(statement):
            match loop:
                case ast.For(body=inner, orelse=_):
                    if any(_holds(view.source.span(one), span) for one in inner):
                        return True
                case ast.While():
                    if _holds(view.source.span(loop), span):
                        return True
    return False


def _holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _asks_for_its_place(statements: Sequence[ast.stmt]) -> bool:
    """True when a name means something else outside of the class."""
    for part in (part for statement in statements for part in ast.walk(statement)):
        asked = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
        if asked == "__class__" or (asked.startswith("__") and not asked.endswith("__")):
            return True
    return False


def _finding(view: FileView, tail: Tail) -> Finding:
    compiled, name = tail.compiled, tail.function.name
    message = f"{name} computes indices from the values of tensors, in several pieces"
    about = (*INDICES, tail.sites[0], message, compiled.function.qualname, compiled.reason)
    try:
        fix = _fix(view, tail)
        obligations = (*_gain(view, tail), _only(tail), no_fullgraph(view, tail.compiled, tail.sites))
    except RefusedError as refused:
        return Finding(*about, (refused.obligation,), advice=refused.advice)
    return Finding(*about, obligations, fix)


def _fix(view: FileView, tail: Tail) -> Fix:
    body = tail.function.body
    docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    whole = len(tail.statements) == len(body) - docstring
    if whole and not tail.function.decorator_list:
        return decorated(view, tail.function)
    return extracted(view, tail.compiled.function, tail.statements, _ADVICE)


def _gain(view: FileView, tail: Tail) -> Iterator[Obligation]:
    """One break in place of several."""
    line = tail.sites[0].line
    text = f"at {len(tail.sites)} places" + (", and in a loop" if tail.repeated else "")
    certain = [one for one in tail.statements if isinstance(one, ast.Assign | ast.AnnAssign | ast.Return | ast.For)]
    always = [span for span in tail.sites if any(_always(view, one, span) for one in certain)]
    if always:
        yield Obligation(GAIN, Discharge.PROVED, text, line)
    elif any(_broke(view, span.line) for span in tail.sites):
        yield Obligation(GAIN, Discharge.OBSERVED, text, line)
    else:
        yield Obligation(GAIN, Discharge.ASSUMED, f"{text}, if it gets there", line)


def _always(view: FileView, statement: ast.stmt, span: Span) -> bool:
    """True when running a statement evaluates the place, as far as its form shows."""
    if isinstance(statement, ast.For):
        return _holds(view.source.span(statement.iter), span)
    conditional = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    inside = [p for p in ast.walk(statement) if isinstance(p, conditional) and _holds(view.source.span(p), span)]
    return _holds(view.source.span(statement), span) and not inside


def _only(tail: Tail) -> Obligation:
    first = tail.statements[0].lineno
    reason = f"lines {first} to {tail.statements[-1].end_lineno} make, arrange, choose and count"
    return Obligation(_ONLY, Discharge.PROVED, reason, first)


def _broke(view: FileView, line: int) -> bool:
    """True when a run showed that Dynamo left a line to Python, or went on within it."""
    seen = view.observed(line)
    return seen is not None and (bool(seen.resumed) or any(one.how != "traced" for one in seen.observations))


def no_fullgraph(view: FileView, compiled: CompiledFunction, places: Sequence[Span]) -> Obligation:
    """That nobody compiles the caller with fullgraph=True, which a break at these places in a run shows."""
    line = places[0].line
    if compiled.fullgraph is False:
        return Obligation(NO_FULLGRAPH, Discharge.PROVED, "the caller is compiled with fullgraph=False", line)
    broken = next((span.line for span in places if _broke(view, span.line)), None)
    if broken is not None:
        return Obligation(NO_FULLGRAPH, Discharge.OBSERVED, "the graph ended there in the run", broken)
    text = shorten(view.source.lines[line - 1].strip())
    return Obligation(NO_FULLGRAPH, Discharge.ASSUMED, f"fullgraph=True captures what is computed from {text}", line)
