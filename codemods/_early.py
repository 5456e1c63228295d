"""Moves what a function asks of the world outside to its start, and out of it where its decorator is torch.compile.

In the middle, such a call splits the graph. As the first thing of the function it costs no graph, and in a wrapper that
is not compiled there is no break: `f` asks, and calls `_f_graph`, which takes the answers as arguments.

Only calls that run exactly once, in the function's own block, and whose arguments are there at the start, are moved;
all of a function at once, so that their order stays.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from gbfix.analysis.flow import flow_of
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import SourceFile
from gbfix.analysis.tree import stored_names
from gbfix.codemods._boundary import compiling_decorator
from gbfix.codemods._boundary_rest import read_rest
from gbfix.codemods._boundary_text import arguments, body_text, edited, graph_name, header
from gbfix.codemods._early_call import ADVICE, EarlyCall, draws_before, early_call, is_plain_number
from gbfix.codemods._host_calls import Reads, own_nodes
from gbfix.codemods._host_sites import HostSite, host_sites
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._text import LINE_LENGTH, in_style_of, reindented, unused_name
from gbfix.codemods._tree import all_names
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Span

MOVABLE = (Reads.CLOCK, Reads.PROCESS, Reads.DRAW)
MOMENT = "the moment of the reading does not matter"
SAME = "nothing before it changes what is read"
NO_FAILURE = "the statements before it cannot fail"


@dataclass(frozen=True)
class Moved:
    """The fix of a function, shared by all calls that it moves, and what each of them relies on."""

    fix: Fix
    obligations: dict[ast.Call, tuple[Obligation, ...]]


@lru_cache(maxsize=4)
def moves(view: FileView) -> dict[ast.Call, Moved | RefusedError]:
    """What becomes of each call of a movable kind in the compiled functions of a file."""
    by_function: dict[CompiledFunction, list[HostSite]] = {}
    for site in host_sites(view, MOVABLE):
        by_function.setdefault(site.compiled, []).append(site)
    found: dict[ast.Call, Moved | RefusedError] = {}
    for compiled, sites in by_function.items():
        found.update(_Mover(view, compiled).moves(sites))
    return found


def moved_finding(site: HostSite, rule: tuple[str, str], message: str, moved: Moved | RefusedError) -> Finding:
    """The finding of a site that moves, or stays for a reason."""
    if isinstance(moved, RefusedError):
        return site.refusal(rule, message, moved)
    where = (site.compiled.function.qualname, site.compiled.reason)
    obligations = moved.obligations[site.call.node]
    return Finding(*rule, site.view.source.span(site.call.node), message, *where, obligations, moved.fix)


class _Mover:
    def __init__(self, view: FileView, compiled: CompiledFunction) -> None:
        self._view = view
        self._source = view.source
        self._node = compiled.function.node
        self._flow = flow_of(view, compiled.function)
        self._taken = frozenset(all_names(view.source.tree))
        body = [] if isinstance(self._node, ast.Lambda) else list(self._node.body)
        self._body = body[1:] if body and _is_text(body[0]) else body

    def moves(self, sites: Sequence[HostSite]) -> Iterator[tuple[ast.Call, Moved | RefusedError]]:
        """Each site with the fix that moves it, or why it stays."""
        early: list[EarlyCall] = []
        obligations: dict[ast.Call, tuple[Obligation, ...]] = {}
        refused: dict[ast.Call, RefusedError] = {}
        generator = any(isinstance(part, ast.Yield | ast.YieldFrom | ast.Await) for part in own_nodes(self._node))
        several = sum(site.call.reads is Reads.CLOCK for site in sites) > 1
        for site in sites:
            try:
                _check_interval(site, several)
                if generator:
                    reason = "the function hands over to its caller in between"
                    raise RefusedError("it runs once in each call", reason, site.call.node.lineno, ADVICE)
                call = early_call(site, self._flow, self._body, early)
                obligations[site.call.node] = tuple(self._obligations(call, early))
            except RefusedError as error:
                refused[site.call.node] = error
            else:
                if call not in early:
                    early.append(call)
        try:
            fix = self._fix(self._named(early)) if early else None
        except RefusedError as error:
            refused.update(dict.fromkeys(obligations, error))
            fix = None
        yield from refused.items()
        if fix is not None:
            for node in obligations:
                yield node, Moved(fix, obligations)

    # -- may it move? ----------------------------------------------------------------------

    def _obligations(self, call: EarlyCall, early: Sequence[EarlyCall]) -> Iterator[Obligation]:
        """What is known of the statements that come before the call now, and after it then."""
        moved = [one.statement for one in early if one.is_assignment]
        before = [s for s in self._body[: self._body.index(call.statement)] if s not in moved]
        rest = read_rest(self._flow, before, [])
        line = call.node.lineno
        own = tuple(f"what {self._source.segment(one.call.node.func)}(" for one in early)
        unknown = [note.text for note in rest.unknown if not note.text.startswith(own)] + [call.unknown] * bool(
            call.unknown
        )
        yield Obligation("it runs once in each call", Discharge.PROVED, "it stands under no condition", line)
        if unknown:
            yield Obligation(SAME, Discharge.ASSUMED, unknown[0], line)
        else:
            yield Obligation(SAME, Discharge.PROVED, "only known operations come before it", line)
        if call.reads is Reads.CLOCK and (before or call.unknown):
            reason = "it is read before what the function computes, no longer within it"
            yield Obligation(MOMENT, Discharge.ASSUMED, reason, line)
        if call.reads is Reads.DRAW:
            blocking = draws_before(self._view.names, self._body, call, early)
            if blocking is not None:
                raise blocking
            if rest.returns or rest.raises:
                reason = "the function may end before it, without a draw"
                raise RefusedError("it runs once in each call", reason, line, "draw in the caller")
            if rest.requirements or rest.fails:
                text = rest.requirements[0].text if rest.requirements else rest.fails[0][0].text
                yield Obligation(NO_FAILURE, Discharge.ASSUMED, text, line)
            else:
                yield Obligation(NO_FAILURE, Discharge.PROVED, "they need nothing that may be missing", line)

    def _named(self, early: Sequence[EarlyCall]) -> list[EarlyCall]:
        taken = set(self._taken)
        found = []
        for call in early:
            name = call.name if call.is_assignment else unused_name(call.name, frozenset(taken))
            taken.add(name)
            found.append(replace(call, name=name))
        return found

    # -- the edit --------------------------------------------------------------------------

    def _fix(self, early: Sequence[EarlyCall]) -> Fix:
        lines = [f"{call.name} = {edited(self._source, call.node, {})}" for call in early]
        edits: dict[ast.AST, str] = {call.edited: "" if call.is_assignment else call.name for call in early}
        body = body_text(self._source, self._body, edits)
        outside = self._outside(early, lines, body)
        if outside is not None:
            return outside
        if not any(call.splits for call in early):
            reason = "nothing is computed before it: it costs one break and no graph"
            line = early[0].node.lineno
            advice = "call it before the compiled function and pass the result in, or leave it"
            raise RefusedError("it stands between the operations of a graph", reason, line, advice)
        first, last = self._source.span(self._body[0]), self._source.span(self._body[-1])
        own = body.split("\n")
        while own[0].startswith("#"):  # the comments above the first statement stay where they are
            del own[0]
        text = in_style_of(self._source, "\n".join([*lines, *own]))
        span = Span(first.line, first.column, last.end_line, last.end_column)
        return Fix("ask at the start of the function", (Replacement(span, text),))

    def _outside(self, early: Sequence[EarlyCall], lines: list[str], body: str) -> Fix | None:
        """The wrapper, where the decorator is torch.compile and the answers can be arguments; None elsewhere."""
        node = self._node
        decorator = compiling_decorator(self._flow)
        if decorator is None or not isinstance(node, ast.FunctionDef) or self._flow.context.function.owner is not None:
            return None
        if node.args.vararg or node.args.kwarg or not all(is_plain_number(call) for call in early):
            return None
        docstring = node.body[0] if node.body[0] not in self._body else None
        graph = graph_name(self._source, node, self._taken)
        names = [call.name for call in early if _is_read(call, self._body)]
        if not names:
            return None
        declared = [*_parameters(self._source, node), *["*"] * (not node.args.kwonlyargs), *names]
        top = f"def {graph}({', '.join(declared)}):"
        if len(top) > LINE_LENGTH:
            return None
        passed = ", ".join(filter(None, [arguments(node), *(f"{name}={name}" for name in names)]))
        inner = reindented(body, "", "    ")
        outer = [*([self._source.segment(docstring)] if docstring else []), *lines, f"return {graph}({passed})"]
        text = "\n".join(
            [
                f"@{self._source.segment(decorator)}",
                top,
                inner,
                "",
                "",
                header(self._source, node),
                *(reindented(line, "", "    ") for line in outer),
            ]
        )
        return Fix("ask outside the compiled function", (Replacement(self._source.span(node), text),))


def _check_interval(site: HostSite, several: bool) -> None:
    """A difference of two readings says how long what lies between took."""
    if site.call.reads is not Reads.CLOCK:
        return
    parent = site.view.source.parents[site.call.node]
    if several or (isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Sub)):
        raise RefusedError(
            "the clock is read at the same moment",
            f"{site.text} measures the time since another reading",
            site.call.node.lineno,
            "read the clock in the caller, before and after the call of the compiled function; on an accelerator, "
            "torch.cuda.synchronize() before the second reading, or torch.cuda.Event, measures the work itself",
        )


def _parameters(source: SourceFile, node: ast.FunctionDef) -> list[str]:
    of = node.args
    names = [*map(source.segment, of.posonlyargs), *["/"] * bool(of.posonlyargs), *map(source.segment, of.args)]
    return [*names, *["*"] * bool(of.kwonlyargs), *map(source.segment, of.kwonlyargs)]


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _is_read(call: EarlyCall, body: Sequence[ast.stmt]) -> bool:
    """True when the rest of the function needs the answer."""
    if not call.is_assignment:
        return True
    loads = (n for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return any(node.id == call.name for node in loads) and call.name not in stored_names(
        [s for s in body if s is not call.statement]
    )
