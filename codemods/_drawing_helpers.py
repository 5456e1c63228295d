"""Helpers that draw from NumPy's global generator and read a number from what they drew: left out of compiled code.

Dynamo takes `np.random.rand` and its like for torch's, which draws other numbers, and ends the graph where one is read
as a Python number. A helper that does so in every call, and computes on the host, is compiled for nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gbfix.analysis.flow import flow_of
from gbfix.analysis.literals import shorten
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import Function
from gbfix.analysis.traced import REASON
from gbfix.analysis.values import Kind
from gbfix.codemods._host_calls import own_nodes
from gbfix.codemods._host_work import other_work
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._report_functions import NO_FULLGRAPH
from gbfix.codemods._sites import torch_name
from gbfix.codemods._text import indentation_of, reindented
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement

PROBE = "number of a NumPy draw"
_GAIN = "every call of the function ends the graph already"
_HOST = "the function computes on the host"
_PLACE = "the function does not ask who calls it"
_STREAM = "the numbers are those that are drawn without torch.compile"
_ADVICE = (
    "put the draws into a function of their own under @torch.compiler.disable, or draw before the compiled function is "
    "called and pass the numbers in; torch.rand draws in the graph, but other numbers"
)
_NO_DRAWS = (
    "default_rng",
    "Generator",
    "RandomState",
    "SeedSequence",
    "BitGenerator",
    "seed",
    "get_state",
    "set_state",
)
_READS = ("item", "tolist")
_NUMBERS = ("int", "float", "bool")
_ASKS_FOR_ITS_PLACE = frozenset(
    {"_getframe", "currentframe", "stack", "stacklevel", "stack_info", "super", "__class__", "locals"}
    | {"is_compiling", "is_dynamo_compiling", "is_torchdynamo_compiling"}
)
_PARTLY = (
    *(ast.BoolOp, ast.IfExp, ast.Compare, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension),
)
"""Expressions that may not run all their parts, or run them later."""
_FIRST_WITH_REASON = (2, 8)


def drawing_helpers(view: FileView, rule: tuple[str, str]) -> Iterator[Finding]:
    """The compiled functions of a file that read a number from a draw of NumPy: one finding for each."""
    for compiled in view.compiled:
        reads = list(_drawn_numbers(view, compiled.function))
        if reads and not view.project.torch.captures(PROBE):
            yield _finding(view, compiled, rule, reads)


def _drawn_numbers(view: FileView, function: Function) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The draws of a function that are read as a number on the spot, each with the expression that is the number."""
    for node in own_nodes(function.node):
        if not isinstance(node, ast.Call):
            continue
        module, _, name = (view.names.qualified(node.func) or "").rpartition(".")
        whole = _number(view, node) if module == "numpy.random" and name not in _NO_DRAWS else None
        if whole is not None:
            yield node, whole


def _number(view: FileView, node: ast.Call) -> ast.expr | None:
    """The expression around a draw that reads it: `np.random.rand(1).item()`, `int(np.random.randint(9))`."""
    match view.source.parents[node]:
        case ast.Attribute(attr=attr) as attribute if attr in _READS:
            read = view.source.parents[attribute]
            return read if isinstance(read, ast.Call) and read.func is attribute else None
        case ast.Call(func=ast.Name() as func, args=[argument], keywords=[]) as read if argument is node:
            return read if any(view.names.is_builtin(func, name) for name in _NUMBERS) else None
    return None


def _finding(
    view: FileView,
    compiled: CompiledFunction,
    rule: tuple[str, str],
    reads: Sequence[tuple[ast.Call, ast.expr]],
) -> Finding:
    certain = [(draw, whole) for draw, whole in reads if _always_runs(view, compiled.function, whole)]
    draw, whole = (certain or reads)[0]
    message = f"{shorten(view.source.segment(whole))} draws a number within a compiled function"
    function, reason, span = compiled.function.qualname, compiled.reason, view.source.span(whole)
    try:
        if not certain:
            raise RefusedError(_GAIN, "it may return before the draw, or pass it by", whole.lineno, _ADVICE)
        fix, obligations = _left_out(view, compiled, draw, whole)
    except RefusedError as refused:
        return Finding(*rule, span, message, function, reason, (refused.obligation,), advice=refused.advice)
    return Finding(*rule, span, message, function, reason, obligations, fix)


def _always_runs(view: FileView, function: Function, node: ast.expr) -> bool:
    """True when every call of the function that returns has evaluated the expression."""
    body = function.node.body
    if isinstance(body, ast.expr):
        return False
    around: list[ast.AST] = []
    for parent in view.source.ancestors(node):
        around.append(parent)
        if isinstance(parent, ast.stmt):
            break
    statement = around.pop()
    if any(isinstance(parent, _PARTLY) for parent in around):
        return False
    if statement not in body or not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return | ast.Expr):
        return False
    before = body[: body.index(statement)]
    return not any(isinstance(part, ast.Return | ast.Yield | ast.YieldFrom) for part in _own_parts(before))


def _own_parts(statements: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """What some statements run themselves, without the bodies of functions that they define."""
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            pending.extend(ast.iter_child_nodes(node))


def _left_out(
    view: FileView, compiled: CompiledFunction, draw: ast.Call, whole: ast.expr
) -> tuple[Fix, tuple[Obligation, ...]]:
    """The fix that puts the function under torch.compiler.disable. Raises RefusedError."""
    helper, source = compiled.function.node, view.source
    if not isinstance(helper, ast.FunctionDef) or not isinstance(source.parents[helper], ast.Module | ast.ClassDef):
        raise RefusedError(_HOST, "it is no function of the module or of a class", whole.lineno, _ADVICE)
    if not compiled.reason.startswith("called from") and compiled.reason != REASON:
        raise RefusedError(_HOST, f"{helper.name} is what is compiled", helper.lineno, _ADVICE)
    if helper.decorator_list:
        raise RefusedError(_PLACE, f"{helper.name} has decorators, which may", helper.lineno, _ADVICE)
    for part in ast.walk(helper):
        asked = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
        asked = part.arg or "" if isinstance(part, ast.keyword) else asked
        if asked in _ASKS_FOR_ITS_PLACE:
            raise RefusedError(_PLACE, f"{asked} depends on it", getattr(part, "lineno", helper.lineno), _ADVICE)
        if isinstance(part, ast.Yield | ast.YieldFrom | ast.Await):
            raise RefusedError(_GAIN, f"{helper.name} goes on in steps", part.lineno, _ADVICE)
    obligations = (
        Obligation(_GAIN, Discharge.PROVED, f"at {shorten(source.segment(whole))}", whole.lineno),
        *_on_host(view, compiled.function, helper, whole),
        Obligation(_STREAM, Discharge.PROVED, _stream(view, draw), whole.lineno),
        _no_fullgraph(view, compiled, whole),
    )
    torch, missing = torch_name(view, helper)
    reason = '(reason="draws numbers with NumPy")' if _version(view) >= _FIRST_WITH_REASON else ""
    start = source.span(helper)
    first, *rest = source.lines[start.line - 1 : start.end_line]
    text = reindented("\n".join([first[start.column :], *rest]), indentation_of(source, helper), "")
    fix = Fix(
        f"do not compile {helper.name}, nor what it calls",
        (Replacement(start, f"@{torch}.compiler.disable{reason}\n{text}"),),
        ("torch",) if missing else (),
    )
    return fix, obligations


def _on_host(view: FileView, function: Function, helper: ast.FunctionDef, whole: ast.expr) -> Iterator[Obligation]:
    """That nothing is lost: what the function computes with tensors would run uncompiled. Raises RefusedError."""
    statement = next(parent for parent in view.source.ancestors(whole) if isinstance(parent, ast.stmt))
    state = flow_of(view, function).before.get(statement)
    held = {one.arg: state.values.get(one.arg) for one in function.parameters} if state is not None else {}
    tensors = {name for name, value in held.items() if value is not None and value.kind is Kind.TENSOR}
    work = other_work(view.source, view.names, helper, tensors)
    if work is not None:
        reason = f"{shorten(view.source.segment(work))} may do more than Python and NumPy"
        raise RefusedError(_HOST, reason, work.lineno, _ADVICE)
    yield Obligation(_HOST, Discharge.PROVED, "tensors are only asked for their size and read", helper.lineno)
    for name, value in held.items():
        if value is not None and value.kind is Kind.MAYBE:
            yield Obligation(f"{name} is a Python value", Discharge.ASSUMED, "nothing shows what it is", helper.lineno)


def _stream(view: FileView, draw: ast.Call) -> str:
    text = " ".join(view.source.segment(draw.func).split())
    return f"{text} draws from NumPy's generator, where Dynamo may take torch's in its place"


def _no_fullgraph(view: FileView, compiled: CompiledFunction, whole: ast.expr) -> Obligation:
    line = whole.lineno
    if any(one.fullgraph for one in view.compiled if one.function.node is compiled.function.node):
        raise RefusedError(NO_FULLGRAPH, "the call of a function left out would be an error", line, _ADVICE)
    if compiled.fullgraph is False:
        return Obligation(NO_FULLGRAPH, Discharge.PROVED, "the caller is compiled with fullgraph=False", line)
    seen = view.observed(line)
    if seen is not None and seen.resumed:
        return Obligation(NO_FULLGRAPH, Discharge.OBSERVED, f"the graph ended here, {seen.told}", line)
    return Obligation(NO_FULLGRAPH, Discharge.ASSUMED, "that might be able to capture what it draws", line)


def _version(view: FileView) -> tuple[int, int]:
    major, minor = view.project.torch.version.split(".")[:2]
    return int(major), int(minor)
