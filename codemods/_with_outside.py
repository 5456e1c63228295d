"""A `with` that ends the graph, and whose block only calls operations of torch: in a function that is not compiled."""

from __future__ import annotations

import ast

from gbfix.analysis.flow import flow_of
from gbfix.analysis.literals import shorten
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._report_functions import NO_FULLGRAPH
from gbfix.codemods._sites import torch_name
from gbfix.codemods._text import call, indentation_of, reindented, unused_name
from gbfix.codemods._tree import all_names
from gbfix.engine.model import Discharge, Fix, Obligation, Replacement

CLAIM = "the block can run in a function of its own"
ADVICE = "put the block into a function of its own under torch.compiler.disable"
_GAIN = "no graph is lost"
_HOLDERS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_FIRST_WITH_REASON = (2, 8)


def own_function(view: FileView, compiled: CompiledFunction, node: ast.With) -> tuple[Fix, tuple[Obligation, ...]]:
    """The fix that moves a `with` into a function under torch.compiler.disable. Raises RefusedError."""
    body = node.body[0]
    if len(node.body) != 1 or not isinstance(body, ast.Return | ast.Assign) or body.value is None:
        raise RefusedError(CLAIM, "it is more than one value", node.lineno, ADVICE)
    target = body.targets[0] if isinstance(body, ast.Assign) else None
    if isinstance(body, ast.Assign) and (len(body.targets) != 1 or not isinstance(target, ast.Name)):
        raise RefusedError(CLAIM, "it sets more than a name", node.lineno, ADVICE)
    _check_calls(view, node, body.value)
    names = _names(view, compiled, node)
    holders = [parent for parent in view.source.ancestors(node) if isinstance(parent, _HOLDERS)]
    outermost = holders[-1]
    torch, missing = torch_name(view, outermost)
    taken = frozenset(all_names(view.source.tree) | set(view.names.local_bindings(view.source.tree)))
    name = unused_name(f"_{compiled.function.name.strip('_')}_uncompiled", taken)
    source = view.source
    start, place = source.span(node), source.span(outermost)
    blanks = indentation_of(source, node)
    before = "return " if target is None else f"{source.segment(target)} = "
    kept = (before + call(name, names, before, len(blanks))).replace("\n", f"\n{blanks}")
    entered = _between(view, start.start, source.span(body).start)
    value = _between(view, source.span(body.value).start, source.span(body).end)
    text = reindented(f"{entered}return {value}", blanks, "")
    first, last = source.lines[start.line - 1], source.lines[start.end_line - 1]
    whole = [
        *source.lines[place.line - 1 : start.line - 1],
        first[: start.column] + kept + last[start.end_column :],
        *source.lines[start.end_line : place.end_line],
    ]
    holder = reindented("\n".join([whole[0][place.column :], *whole[1:]]), indentation_of(source, outermost), "")
    reason = '(reason="enters what no graph can")' if _version(view) >= _FIRST_WITH_REASON else ""
    header = f"def {call(name, names, 'def :')}:"
    helper = f"@{torch}.compiler.disable{reason}\n{header}\n{reindented(text, '', '    ')}"
    fix = Fix(
        f"enter it in {name}, which is not compiled",
        (Replacement(place, f"{helper}\n\n\n{holder}"),),
        ("torch",) if missing else (),
    )
    line = node.lineno
    obligations = (
        Obligation(CLAIM, Discharge.PROVED, "it reads names that are handed over, and gives one value", line),
        Obligation(_GAIN, Discharge.PROVED, "the function is given up where it is entered, and only calls torch", line),
        Obligation(NO_FULLGRAPH, Discharge.PROVED, "entering it is an error there already", line),
    )
    return fix, obligations


def _between(view: FileView, start: tuple[int, int], end: tuple[int, int]) -> str:
    """The source from one position to another, line by line."""
    first, *rest = view.source.lines[start[0] - 1 : end[0]]
    if not rest:
        return first[start[1] : end[1]]
    return "\n".join([first[start[1] :], *rest[:-1], rest[-1][: end[1]]])


def _check_calls(view: FileView, node: ast.With, value: ast.expr) -> None:
    """What the block calls must be torch's own: anything else might be compiled by itself, or ask for its place."""
    for part in ast.walk(value):
        if isinstance(part, ast.Lambda | ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await):
            raise RefusedError(CLAIM, "it does more than call functions", part.lineno, ADVICE)
        if isinstance(part, ast.Call) and not (view.names.qualified(part.func) or "").startswith("torch."):
            reason = f"{shorten(view.source.segment(part))} may be compiled by itself"
            raise RefusedError(_GAIN, reason, part.lineno, ADVICE)
    for part in ast.walk(node):
        name = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
        if name == "__class__" or (name.startswith("__") and not name.endswith("__")):
            raise RefusedError(CLAIM, f"{name} has another meaning outside its class", node.lineno, ADVICE)
    if any(item.optional_vars is not None for item in node.items):
        raise RefusedError(CLAIM, "the block uses what it enters", node.lineno, ADVICE)


def _names(view: FileView, compiled: CompiledFunction, node: ast.With) -> list[str]:
    """The names of the function that the statement reads, in the order of their first reading. Raises RefusedError."""
    state = flow_of(view, compiled.function).before.get(node)
    if state is None:
        raise RefusedError(CLAIM, "it is never reached", node.lineno, ADVICE)
    found: list[str] = []
    inside = set(ast.walk(node))
    for part in ast.walk(node):
        if not isinstance(part, ast.Name) or not isinstance(part.ctx, ast.Load) or part.id in found:
            continue
        scope, _ = view.names.lookup(part.id, part)
        if isinstance(scope, ast.Module) or scope in inside:
            continue
        if scope is not compiled.function.node:
            raise RefusedError(CLAIM, f"{part.id} belongs to a function around it", part.lineno, ADVICE)
        if part.id not in state.values:
            raise RefusedError(CLAIM, f"{part.id} may have no value there", part.lineno, ADVICE)
        found.append(part.id)
    return found


def _version(view: FileView) -> tuple[int, int]:
    major, minor = view.project.torch.version.split(".")[:2]
    return int(major), int(minor)
