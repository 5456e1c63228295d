"""A value of a tensor that Python reads in the middle of a function, though it depends on the parameters alone.

Reading a number (`t.item()`, GB0124) or the places that a condition selects (`torch.where(t)[0]`, GB0036) ends the
graph. Where everything that follows steers by it, it cannot be avoided; but what was computed before it need not be a
graph of its own. Read first, all of the function is one graph.

Before:

    @torch.compile
    def f(x: torch.Tensor, marks: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        marked = marks > 0
        count = marked.sum().item()
        return y.cos().repeat(count)

After:

    @torch.compiler.disable(reason="reads values of tensors")
    def _read_count(marks):
        marked = marks > 0
        return marked.sum().item()


    @torch.compile
    def f(x: torch.Tensor, marks: torch.Tensor) -> torch.Tensor:
        count_first = _read_count(marks)
        y = x.sin()
        marked = marks > 0
        count = count_first
        return y.cos().repeat(count)

Only where a run broke there, and where the function reads nothing else. The break stays and is explicit; there is one
graph less for each function that it cuts. Comparisons, counts and the like are then made in Python, and once more in
the graph where that uses them, too.

Stays away from readings in loops, and where more is needed than cheap work on parameters, or the function may have
returned before. Under conditions on Python values it is read under the same ones. That nothing in front changes the
parameters, and fails, is checked or assumed; so is that no caller compiles with `fullgraph=True`, unless a run broke
there.

Source: torch.compile troubleshooting, torch.compiler.disable (GB0098).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gbfix.analysis.flow import flow_of, reads_tensor
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import FunctionNode
from gbfix.codemods._graph_reports import place_of_functions
from gbfix.codemods._host_tail_text import disabling
from gbfix.codemods._host_tails import no_fullgraph
from gbfix.codemods._late_slices import ADVICE, ALONE, Slice, conditions_around, slice_of, statements_before
from gbfix.codemods._masked import masked_findings
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._repeated_items import kept_spans
from gbfix.codemods._scalar_reads import reads_of
from gbfix.codemods._sites import torch_name
from gbfix.codemods._text import in_style_of, indentation_of, reindented, unused_name
from gbfix.codemods._top_level import top_level_statement
from gbfix.codemods._tree import all_names
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Rule, Span

LATE = ("GBF207", "late-reading")
_UNCHANGED = "nothing before it changes what is read"
_NO_ERRORS = "the statements before it cannot fail"
_SELECTS = frozenset({"torch.where", "torch.nonzero", "torch.argwhere"})
_REASON = "reads values of tensors"


def _find(view: FileView) -> Iterator[Finding]:
    kept = kept_spans(view)
    if kept is None:
        return
    kept |= {finding.span for finding in masked_findings(view) if finding.fix is not None}
    for compiled in view.compiled:
        node = compiled.function.node
        if compiled.fullgraph is True or not isinstance(node, ast.FunctionDef):
            continue
        if isinstance(view.source.parents[node], ast.Module | ast.ClassDef) and not _runs_in_steps(node):
            readings = list(_readings(view, compiled, kept))
            # With another reading, or where no run broke, there is no telling whether a graph is gained.
            if len(readings) == 1 and _broke(view, readings[0]) and _has_work_before(view, compiled, node, readings[0]):
                yield from _findings(view, compiled, node, readings[0])


def _runs_in_steps(node: ast.FunctionDef) -> bool:
    return any(isinstance(part, ast.Yield | ast.YieldFrom | ast.Await) for part in ast.walk(node))


def _readings(view: FileView, compiled: CompiledFunction, kept: set[Span]) -> list[ast.expr]:
    """The expressions of a function that read a value, in source order."""
    node = compiled.function.node
    inner = {p for f in ast.walk(node) if isinstance(f, FunctionNode) and f is not node for p in ast.walk(f)}
    reads = [read.node for read in reads_of(flow_of(view, compiled.function)) if not read.implicit]
    calls = [p for p in ast.walk(node) if isinstance(p, ast.Call) and p not in inner and _selects(view, p)]
    found = sorted([*reads, *calls], key=lambda one: (one.lineno, one.col_offset))
    return [one for one in found if not any(view.source.span(one).overlaps(span) for span in kept)]


def _statement(view: FileView, expression: ast.expr) -> ast.stmt:
    return next(one for one in view.source.ancestors(expression) if isinstance(one, ast.stmt))


def _broke(view: FileView, expression: ast.expr) -> bool:
    """True when a run showed that the graph ended in the statement, and another one began."""
    seen = view.observed(_statement(view, expression).lineno)
    return seen is not None and bool(seen.resumed)


def _selects(view: FileView, call: ast.Call) -> bool:
    """True for a call whose result has as many elements as a condition is true for."""
    if view.names.qualified(call.func) in _SELECTS:
        return len(call.args) == 1 and not call.keywords
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("nonzero", "argwhere") and not call.args


def _has_work_before(view: FileView, compiled: CompiledFunction, node: ast.FunctionDef, expression: ast.expr) -> bool:
    """True when a graph would end there: something is computed with tensors in front of it."""
    flow, statement = flow_of(view, compiled.function), _statement(view, expression)
    for before in statements_before(view.source, node, statement):
        state = flow.before.get(before)
        parts = (p for p in ast.walk(before) if isinstance(p, ast.Call | ast.BinOp | ast.Compare))
        if state is not None and any(flow.evaluate(part, state)[0].tensor_like for part in parts):
            return True
    return False


def _findings(
    view: FileView, compiled: CompiledFunction, node: ast.FunctionDef, expression: ast.expr
) -> Iterator[Finding]:
    statement = _statement(view, expression)
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return
    text = " ".join(view.source.segment(expression).split())
    message = f"{text} is read behind work that it does not need"
    about = (*LATE, view.source.span(expression), message, compiled.function.qualname, compiled.reason)
    try:
        conditions = conditions_around(view.source, node, statement)
        _check_way(view, compiled, node, statement, conditions)
        needed = slice_of(view, compiled.function, statement)
        fix = _Writer(view, node, statement, conditions, needed).fix()
    except RefusedError:
        return  # other rules say why the reading stays
    yield Finding(*about, tuple(_obligations(view, compiled, node, statement, needed)), fix)


def _check_way(
    view: FileView,
    compiled: CompiledFunction,
    node: ast.FunctionDef,
    statement: ast.Assign,
    conditions: Sequence[ast.If],
) -> None:
    """The way to the statement is the same at the start of the function. Raises RefusedError."""
    flow, line = flow_of(view, compiled.function), statement.lineno
    for before in statements_before(view.source, node, statement):
        if any(isinstance(part, ast.Return) for part in ast.walk(before)):
            raise RefusedError(ALONE, "the function may have returned before", before.lineno, ADVICE)
    bound = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
    for condition in conditions:
        state = flow.before.get(condition)
        names = {part.id for part in ast.walk(condition.test) if isinstance(part, ast.Name)}
        calls = any(isinstance(part, ast.Call) for part in ast.walk(condition.test))
        if state is None or reads_tensor(flow, state, condition.test) or names & bound or calls:
            raise RefusedError(ALONE, "a condition around it is not known at the start", line, ADVICE)


def _obligations(
    view: FileView, compiled: CompiledFunction, node: ast.FunctionDef, statement: ast.Assign, needed: Slice
) -> Iterator[Obligation]:
    line = statement.lineno
    count = len(needed.statements) + 1
    reason = f"{count} statement{'s' if count > 1 else ''} of comparing, counting and choosing"
    yield Obligation(ALONE, Discharge.PROVED, reason, line)
    others = [
        one
        for one in statements_before(view.source, node, statement)
        if one not in needed.statements and not _is_docstring(one)
    ]
    plain = not any(isinstance(p, ast.Call | ast.AugAssign | ast.Delete) for one in others for p in ast.walk(one))
    first = others[0].lineno if others else line
    if plain:
        yield Obligation(_UNCHANGED, Discharge.PROVED, "no call stands in front of it", first)
    else:
        reason = f"{' and '.join(needed.parameters) or 'what it reads'} may be changed from line {first} on"
        yield Obligation(_UNCHANGED, Discharge.ASSUMED, reason, first)
    if others:
        yield Obligation(_NO_ERRORS, Discharge.ASSUMED, f"lines from {first} on would have failed first", first)
    yield no_fullgraph(view, compiled, [view.source.span(statement)])


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class _Writer:
    def __init__(
        self,
        view: FileView,
        node: ast.FunctionDef,
        statement: ast.Assign,
        conditions: Sequence[ast.If],
        needed: Slice,
    ) -> None:
        self._view, self._source, self._node = view, view.source, node
        self._statement, self._conditions, self._needed = statement, conditions, needed
        self._taken = all_names(self._source.tree) | {
            one.name for one in self._source.nodes if isinstance(one, ast.FunctionDef | ast.ClassDef)
        }

    def fix(self) -> Fix:
        """The helper above, its call at the start, and its value where it was read. Raises RefusedError."""
        holder = top_level_statement(self._source, self._node)
        torch, missing = torch_name(self._view, holder)
        target = self._statement.targets[0]
        word = target.id.strip("_") if isinstance(target, ast.Name) else self._node.name.strip("_")
        helper = self._unused(f"_read_{word}")
        name = self._unused(f"{word}_first")
        place = place_of_functions(self._view, holder, torch, missing)
        definition = in_style_of(self._source, self._definition(torch, helper))
        edits = (
            Replacement(self._source.span(place), f"{self._source.segment(place)}\n\n\n{definition}"),
            self._read_at_start(name, f"{helper}({', '.join(self._needed.parameters)})"),
        )
        title = f"read it at the start, in {helper}, which is not compiled"
        return Fix(title, tuple(sorted(edits, key=lambda one: one.span)), ("torch",) if missing else ())

    def _unused(self, wanted: str) -> str:
        found = unused_name(wanted, frozenset(self._taken))
        self._taken.add(found)
        return found

    def _definition(self, torch: str, helper: str) -> str:
        lines = [self._plain(one) for one in self._needed.statements]
        value = self._text(self._statement.value)
        lines.append(f"return (\n    {value}\n)" if "\n" in value else f"return {value}")
        body = "\n".join(reindented(line, "", "    ") for line in lines)
        return f"{disabling(self._view, torch, _REASON)}\ndef {helper}({', '.join(self._needed.parameters)}):\n{body}"

    def _plain(self, statement: ast.stmt) -> str:
        text = self._source.segment(statement)
        return reindented(text, indentation_of(self._source, statement), "")

    def _text(self, expression: ast.expr) -> str:
        return reindented(self._source.segment(expression), indentation_of(self._source, self._statement), "")

    def _read_at_start(self, name: str, call: str) -> Replacement:
        """From the first statement to the one that holds the reading: with the call in front, and its value in it."""
        body = [one for index, one in enumerate(self._node.body) if index or not _is_docstring(one)]
        around = next(one for one in body if self._statement in ast.walk(one))
        statement, target = self._source.span(self._statement), self._source.segment(self._statement.targets[0])
        start, end = self._source.span(body[0]).start, self._source.span(around).end
        tests = [self._source.segment(condition.test) for condition in self._conditions]
        asked = " and ".join(f"({test})" if len(tests) > 1 else test for test in tests)
        first = f"{name} = {call} if {asked} else None" if asked else f"{name} = {call}"
        left, right = self._between(start, statement.start), self._between(statement.end, end)
        comment = self._source.lines[end[0] - 1][end[1] :]
        right += comment if comment.strip().startswith("#") else ""
        indentation = indentation_of(self._source, body[0])
        kept = reindented(f"{left}{target} = {name}{right}", indentation, "")
        return Replacement(Span(*start, *end), f"{first}\n{kept}")

    def _between(self, start: tuple[int, int], end: tuple[int, int]) -> str:
        lines = list(self._source.lines[start[0] - 1 : end[0]])
        lines[-1] = lines[-1][: end[1]]
        return "\n".join([lines[0][start[1] :], *lines[1:]])


RULE = Rule(*LATE, "a value that is read in the middle, though it depends on the parameters alone", __doc__, _find)
