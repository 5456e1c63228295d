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
- the calls are somewhere that the given files do not show;
- `mark_static` says that the size is fixed, or a new name for the argument would be seen (in the body of a class, or
  where `locals()` is read).

Where the source does not show that the size can change freely, that is assumed: `gbfix apply --check` runs the recorded
command once more with the marks, and keeps them when the function is then compiled less often.

Source: torch.compiler dynamic shapes; torch._dynamo.mark_dynamic (torch/_dynamo/decorators.py of torch 2.13). What each
way of marking compiles was measured.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from gbfix.analysis.project import FileView, Project
from gbfix.codemods._compile_spellings import compile_call
from gbfix.codemods._mark_obligations import IS_DYNAMIC, about_the_function, about_the_statement, causes, told
from gbfix.codemods._marked_calls import MarkedStatement, plan
from gbfix.codemods._marks import WEAK, is_fresh, marked_statement
from gbfix.codemods._recompiled import Recompiled, recompiled_functions
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Rule, Span

CODE, NAME = "GBF401", "varying-size"
PUBLIC = "torch.compiler.mark_dynamic"
"""The probe for a public spelling."""


def find(view: FileView) -> Iterable[Finding]:
    """The calls in a file that compile a function again for other sizes, and the functions for which no mark helps."""
    found = [finding for one in recompiled_functions(view.project) for finding in findings_about(view, one)]
    return sorted(found, key=lambda finding: finding.span)


def findings_about(view: FileView, one: Recompiled) -> Iterator[Finding]:
    """What `find` gives for one of the functions."""
    planned = plan(view.project, one)
    if isinstance(planned, RefusedError):
        if one.path == view.source.path:
            yield _of(view, one, _home_node(view, one), [planned.obligation], None, planned.advice)
        return
    obligations = about_the_function(view.project.view(one.path), one, planned)
    for statement in planned.to_mark:
        if statement.view.source.path == view.source.path:
            yield _finding(statement, one, obligations)


def _home_node(home: FileView, one: Recompiled) -> ast.AST:
    """The function, or what compiles it where that is not in the given files."""
    if one.function is not None:
        return one.function.node
    found = compile_call(home, one.line)
    return found or next((s for s in home.source.tree.body if (s.end_lineno or 0) >= one.line), home.source.tree)


def _finding(statement: MarkedStatement, one: Recompiled, obligations: Sequence[Obligation]) -> Finding:
    view, node = statement.view, statement.node
    if statement.refused is not None:
        return _of(view, one, node, [statement.refused.obligation], None, statement.refused.advice)
    is_proved = any(o.claim == IS_DYNAMIC and o.discharge is Discharge.PROVED for o in obligations)
    strict = is_proved and all(mark.is_alone and is_fresh(view, mark.argument) for mark in statement.marks)
    function = _mark_function(view.project, strict=strict)
    replacement, import_torch = marked_statement(view, node, statement.marks, function)
    names = " and ".join(dict.fromkeys(mark.parameter for mark in statement.marks))
    fix = Fix(f"mark the size of {names} as dynamic", (replacement,), ("torch",) if import_torch else ())
    return _of(view, one, node, [*about_the_statement(statement, one), *obligations], fix)


def _mark_function(project: Project, *, strict: bool) -> str:
    if not strict:
        return WEAK
    return PUBLIC if project.torch.captures(PUBLIC) else "torch._dynamo.mark_dynamic"


def _of(
    view: FileView,
    one: Recompiled,
    node: ast.AST,
    obligations: Sequence[Obligation],
    fix: Fix | None,
    advice: str = "",
) -> Finding:
    is_own = one.function is not None and node is one.function.node
    around = one.function if is_own else view.source.enclosing_function(node)
    holder = around.qualname if around is not None else "<module>"
    reasons = (c.reason for c in view.project.compiled[one.path] if c.function is one.function)
    region = next(reasons, f"torch.compile (line {one.line})")
    sizes = " and of ".join(varying.told for varying in one.varying) or "a tensor"
    joined = f"{one.name}, {region}" if region.startswith("called") else f"{one.name} by {region}"
    message = f"{one.name} is compiled again for other sizes of {sizes} ({told(one)}{causes(view.project, one)})"
    return Finding(CODE, NAME, _site(view, node), message, holder, joined, tuple(obligations), fix, advice)


def _site(view: FileView, node: ast.AST) -> Span:
    """The node, of a statement with a body the head."""
    span = view.source.span(node)
    body = getattr(node, "body", None)
    if isinstance(node, ast.stmt) and isinstance(body, list) and body:
        first = view.source.span(body[0])
        if first.line > span.line:
            last = view.source.lines[first.line - 2]
            return Span(span.line, span.column, first.line - 1, len(last))
    return span


RULE = Rule(CODE, NAME, "a compiled function that is compiled again for other sizes of a tensor", __doc__, find)
