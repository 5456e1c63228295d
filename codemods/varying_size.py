"""A compiled function that a run compiled again, since a tensor came with other sizes.

Compiled code is made for the sizes that it was first called with. The second size of a dimension is compiled once more,
and that compilation usually serves all later sizes; with `dynamic=False`, or where PyTorch was told to take sizes as
fixed, every size is compiled for itself until the recompile limit is reached and the function runs in Python.
A mark on the argument tells PyTorch before the first compilation that the size will change.

Before:

    for batch in batches:
        loss = step(batch)

After:

    for batch in batches:
        torch._dynamo.maybe_mark_dynamic(batch, 0)
        loss = step(batch)

The mark stands in the code that calls the compiled function, which is not compiled itself, before every call. Only a
recorded run (`gbfix trace -- CMD`) shows which sizes change, so without one nothing is found. The fix says how often
the function was compiled and how often it would be.

`mark_dynamic` raises a ConstraintViolationError when the program turns out to fix the size; it is used where the source
shows that the function computes element by element, and the tensor goes nowhere else. Everywhere else
`maybe_mark_dynamic` is, which saves as much and never raises. Neither gets bounds: `min` and `max` would be those of
one run, and a size outside of them an error that the program did not have.

Stays away when:

- the source shows that the size is fixed: it is compared with a number, or a product sums over it with a tensor of
  fixed size;
- sizes 0 and 1 are all that differs: PyTorch always compiles each of them for itself, marked or not.
  `torch._dynamo.decorators.mark_unbacked` covers them too, but then a branch on the size breaks the graph, or is an
  error under `fullgraph=True`;
- the call is made by compiled code, where a mark is an error, or only on some ways through its statement;
- the calls are somewhere that the given files do not show.

Where the source does not show that the size can change freely, that is assumed: `gbfix apply --check` runs the recorded
command once more with the marks, and keeps them when the function is then compiled less often.

Source: torch.compiler dynamic shapes; torch._dynamo.mark_dynamic (torch/_dynamo/decorators.py of torch 2.13). What each
way of marking compiles was measured.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gbfix.analysis.project import FileView, Project
from gbfix.codemods._compiled_calls import CallSite, Missed, calls_of, passed_to
from gbfix.codemods._marks import Mark, is_fresh, is_marked, marked_statement, statement_of
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._size_uses import computes_for_every_size, what_fixes_the_size
from gbfix.codemods._varying import Recompiled, Varying, recompiled_functions
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Rule, Span

CODE, NAME = "GBF401", "varying-size"
PUBLIC = "torch.compiler.mark_dynamic"
"""The probe for a public spelling."""

IS_TENSOR = "the argument is a tensor"
IN_PYTHON = "the call is made in Python"
IS_DYNAMIC = "the size can be dynamic"
EVERY_CALL = "every call of it is marked"


@dataclass(frozen=True, eq=False)
class _Statement:
    """A statement with calls of one compiled function, and what is to be marked before it."""

    view: FileView
    node: ast.stmt
    marks: tuple[Mark, ...]


def find(view: FileView) -> Iterable[Finding]:
    """The calls in a file that compile a function again for other sizes, and the functions for which no mark helps."""
    found = [finding for one in recompiled_functions(view.project) for finding in findings_about(view, one)]
    return sorted(found, key=lambda finding: finding.span)


def findings_about(view: FileView, one: Recompiled) -> Iterator[Finding]:
    """What `find` gives for one of the functions."""
    home = view.project.view(one.path)
    try:
        _check_worth(one)
        _check_open(home, one)
        calls = _calls(view.project, one)
        _check_reached(one, calls)
    except RefusedError as refused:
        if one.path == view.source.path:
            yield _refusal(view, one, one.function.node, refused)
        return
    obligations = [_is_tensor(one), _is_dynamic(home, one), _every_call(calls)]
    for statement in calls.to_mark:
        if statement.view.source.path == view.source.path:
            yield _finding(statement, one, obligations)


@dataclass(frozen=True, eq=False)
class _Calls:
    """The calls of a compiled function. marked: how many are already. missed: those before which no mark can stand.

    inside: those by other compiled code, which takes the function in and does not start it.
    """

    to_mark: tuple[_Statement, ...]
    marked: int
    missed: tuple[Missed, ...]
    inside: tuple[Missed, ...]


def _calls(project: Project, one: Recompiled) -> _Calls:
    marks: dict[ast.stmt, tuple[FileView, list[Mark]]] = {}
    marked = 0
    missed: list[Missed] = []
    inside: list[Missed] = []
    for found in calls_of(project, one.path, one.function, one.entry):
        if isinstance(found, Missed):
            missed.append(found)
        elif (reason := _compiled_around(found.view, found.call)) is not None:
            inside.append(Missed(found.view.source.path, found.call.lineno, reason))
        else:
            view = found.view
            try:
                statement = statement_of(view, found.call)
                wanted = _marks(one, found)
            except RefusedError as refused:
                missed.append(Missed(view.source.path, refused.obligation.line, refused.obligation.reason))
                continue
            earlier = {node: these for node, (_, these) in marks.items()}
            new = [mark for mark in wanted if not is_marked(view, statement, mark, earlier)]
            marked += not new
            if new:
                marks.setdefault(statement, (view, []))[1].extend(new)
    to_mark = tuple(_Statement(view, node, tuple(these)) for node, (view, these) in marks.items())
    return _Calls(to_mark, marked, tuple(missed), tuple(inside))


def _check_worth(one: Recompiled) -> None:
    """Raise RefusedError when the run shows that marks would save nothing."""
    claim, line = "a mark saves a compilation", one.function.node.lineno
    if not one.varying:
        what = one.row.source_name or "a tensor"
        reason = f"the size that changed is that of {what}, which is no argument that is a tensor in every call"
        raise RefusedError(claim, reason, line, "pass the tensor as an argument, or keep its size the same")
    if one.expected < one.compiles:
        return
    advice = "nothing has to be done: each case is compiled once and kept"
    if one.special:
        sizes = " and ".join(map(str, one.special))
        reason = f"size {sizes} was seen, which PyTorch always compiles for itself, marked or not: {_told(one)}"
        advice = (
            "nothing has to be done: it is compiled once and kept; torch._dynamo.decorators.mark_unbacked covers sizes "
            "0 and 1 too, but then a branch on the size breaks the graph, or is an error under fullgraph=True"
        )
        raise RefusedError(claim, reason, line, advice)
    raise RefusedError(claim, f"other things than sizes changed as well: {_told(one)}", line, advice)


def _check_open(home: FileView, one: Recompiled) -> None:
    """Raise RefusedError when the source shows that a size is fixed."""
    if (fixes := what_fixes_the_size(home, one.function, one.varying)) is not None:
        advice = "keep the size the same, or pad to a few sizes in the caller; a mark would not help"
        raise RefusedError(IS_DYNAMIC, fixes[0], fixes[1], advice)


def _check_reached(one: Recompiled, calls: _Calls) -> None:
    """Raise RefusedError when there is no call that a mark can stand before."""
    if calls.to_mark or calls.marked:
        return
    advice = f"call {_mark_text(one)} in the code that calls it, before the first call"
    missed = (*calls.missed, *calls.inside)
    if missed:
        raise RefusedError("a mark can stand before its calls", _in_words(missed), missed[0].line, advice)
    reason = f"no call of {one.function.name} is in the given files"
    raise RefusedError("a mark can stand before its calls", reason, one.function.node.lineno, advice)


def _in_words(missed: Sequence[Missed]) -> str:
    """The reasons, with the lines of all but the first, which stands elsewhere."""
    first, *others = dict.fromkeys(missed)
    return "; ".join([first.text, *(f"{one.text} (line {one.line})" for one in others)])


def _compiled_around(view: FileView, call: ast.Call) -> str | None:
    """Why a call is made by compiled code, where a mark would be an error; None when it is not."""
    compiled = {one.function.node: one.reason for one in view.compiled}
    for parent in view.source.ancestors(call):
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and parent in compiled:
            return f"the code around it is compiled: {compiled[parent]}"
    return None


def _marks(one: Recompiled, site: CallSite) -> list[Mark]:
    passed = passed_to(one.function, site)
    if passed is None:
        raise RefusedError(EVERY_CALL, "the call unpacks its arguments", site.call.lineno, "")
    found = []
    for varying in one.varying:
        argument = passed.get(varying.parameter)
        if argument is not None and not isinstance(argument, ast.Constant):
            alone = all(isinstance(other, ast.Constant) for other in passed.values() if other is not argument)
            found.append(Mark(argument, varying.path, varying.dimensions, varying.parameter, alone))
    return found


def _is_dynamic(home: FileView, one: Recompiled) -> Obligation:
    line = one.function.node.lineno
    if computes_for_every_size(home, one.function, one.varying):
        reason = "every operation is element by element or over the whole tensor"
        return Obligation(IS_DYNAMIC, Discharge.PROVED, reason, line)
    reason = "the source does not show it; where the program fixes the size, the mark has no effect"
    return Obligation(IS_DYNAMIC, Discharge.ASSUMED, reason, line)


def _every_call(calls: _Calls) -> Obligation:
    if calls.missed:
        return Obligation(EVERY_CALL, Discharge.ASSUMED, _in_words(calls.missed), calls.missed[0].line)
    return Obligation(EVERY_CALL, Discharge.PROVED, "the given files show all of them")


def _is_tensor(one: Recompiled) -> Obligation:
    names = ", ".join(f"{varying.parameter}{varying.path}" for varying in one.varying)
    if all(varying.is_tensor for varying in one.varying):
        calls = sum(1 for _ in one.entry.arguments) if one.entry is not None else 0
        reason = f"{names} was one with each of the {calls} kinds of arguments that the run recorded"
        return Obligation(IS_TENSOR, Discharge.OBSERVED, reason, one.function.node.lineno)
    reason = f"the run does not show that {names} is a plain tensor in every call; a mark of anything else raises"
    return Obligation(IS_TENSOR, Discharge.ASSUMED, reason, one.function.node.lineno)


def _finding(statement: _Statement, one: Recompiled, obligations: Sequence[Obligation]) -> Finding:
    view, node = statement.view, statement.node
    in_python = Obligation(
        IN_PYTHON, Discharge.PROVED, "no compiled function of the given files reaches it", node.lineno
    )
    is_proved = any(o.claim == IS_DYNAMIC and o.discharge is Discharge.PROVED for o in obligations)
    strict = is_proved and all(mark.is_alone and is_fresh(view, mark.argument) for mark in statement.marks)
    try:
        function = _mark_function(view.project, strict=strict)
        replacement, import_torch = marked_statement(view, node, statement.marks, function)
    except RefusedError as refused:
        return _refusal(view, one, node, refused)
    names = " and ".join(dict.fromkeys(mark.parameter + mark.path for mark in statement.marks))
    fix = Fix(f"mark the size of {names} as dynamic", (replacement,), ("torch",) if import_torch else ())
    return _of(view, one, node, [in_python, *obligations], fix)


def _site(view: FileView, node: ast.stmt) -> Span:
    """The statement, of a compound one the head."""
    span = view.source.span(node)
    body = getattr(node, "body", None)
    if isinstance(body, list) and body:
        first = view.source.span(body[0])
        if first.line > span.line:
            last = view.source.lines[first.line - 2]
            return Span(span.line, span.column, first.line - 1, len(last))
    return span


def _mark_function(project: Project, *, strict: bool) -> str:
    if not strict:
        return "torch._dynamo.maybe_mark_dynamic"
    return PUBLIC if project.torch.captures(PUBLIC) else "torch._dynamo.mark_dynamic"


def _refusal(view: FileView, one: Recompiled, node: ast.AST, refused: RefusedError) -> Finding:
    return _of(view, one, node, [refused.obligation], None, refused.advice)


def _of(
    view: FileView,
    one: Recompiled,
    node: ast.AST,
    obligations: Sequence[Obligation],
    fix: Fix | None,
    advice: str = "",
) -> Finding:
    around = one.function if node is one.function.node else view.source.enclosing_function(node)
    holder = around.qualname if around is not None else "<module>"
    span = _site(view, node) if isinstance(node, ast.stmt) else view.source.span(node)
    reasons = (c.reason for c in view.project.compiled[one.path] if c.function is one.function)
    region = next(reasons, "in the recorded run")
    name = one.function.qualname
    message = f"{name} is compiled again for other sizes of {_sizes(one.varying)} ({_told(one)}{_causes(one)})"
    return Finding(CODE, NAME, span, message, holder, f"{name} by {region}", tuple(obligations), fix, advice)


def _sizes(varying: Sequence[Varying]) -> str:
    return " and of ".join(one.told for one in varying) or "a tensor"


def _told(one: Recompiled) -> str:
    """How often it is compiled, and what that would become."""
    without = f"{one.compiles} compilations"
    saved = one.compiles - one.expected
    return f"{without}, {one.expected} with a mark" if saved > 0 and one.varying else without


def _causes(one: Recompiled) -> str:
    causes = []
    if one.entry is not None and one.entry.dynamic is False:
        causes.append("dynamic=False compiles every size for itself")
    if one.row.limit_hit:
        causes.append("the recompile limit was reached, after which it runs in Python")
    return "".join(f"; {cause}" for cause in causes)


def _mark_text(one: Recompiled) -> str:
    first = one.varying[0]
    return f"torch._dynamo.maybe_mark_dynamic({first.parameter}{first.path}, {first.dimensions[0]})"


RULE = Rule(CODE, NAME, "a compiled function that is compiled again for other sizes of a tensor", __doc__, find)
