"""Finds the statements that only report.

Those are messages, tests that decide on nothing but messages, and calls of functions that do nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.operators import EVIDENCE_METHODS
from gbfix.analysis.project import FileView
from gbfix.analysis.source import Function, FunctionNode
from gbfix.analysis.tree import names_in
from gbfix.codemods._definitions import definitions
from gbfix.codemods._messages import MessageKind, message_of
from gbfix.codemods._tree import blocks_of
from gbfix.engine.dataclass import dataclass

IN_GRAPH_PRINT = "torch._higher_order_ops.print"
PRINT, LOGGING, WARNING, REPORT = "print", "logging", "warning", "report"
_KINDS = {
    MessageKind.PRINT: PRINT,
    MessageKind.WRITE: PRINT,
    MessageKind.LOGGING: LOGGING,
    MessageKind.WRAPPER: LOGGING,
    MessageKind.WARNING: WARNING,
}
_DEPTH = 4
_PLAIN_DECORATORS = frozenset(
    {"torch.compiler.disable", "torch._dynamo.disable", "torch.no_grad", "functools.lru_cache", "functools.cache"}
)
_PLAIN_METHODS = EVIDENCE_METHODS | {"item", "tolist", "format", "join", "isEnabledFor", "numpy", "cpu", "detach"}
_PLAIN_BUILTINS = frozenset(
    {
        "str",
        "repr",
        "len",
        "float",
        "int",
        "bool",
        "tuple",
        "list",
        "dict",
        "type",
        "round",
        "min",
        "max",
        "sum",
        "format",
    }
    | {"sorted", "abs", "isinstance", "range", "zip", "enumerate", "getattr", "hasattr", "id"}
)


@dataclass(frozen=True, eq=False)
class Unit:
    """A statement that only reports, and moves as a whole.

    kind: what its first message is, REPORT for a call of a function that only reports. messages: the calls that say
    something. helpers: the functions that those run, if any.
    """

    statement: ast.stmt
    kind: str
    messages: tuple[ast.Call, ...]
    helpers: tuple[ast.FunctionDef, ...] = ()


@dataclass(frozen=True, eq=False)
class _Said:
    kind: str
    call: ast.Call
    helper: ast.FunctionDef | None = None


def units_of(view: FileView, function: Function) -> list[Unit]:
    """The statements of a function that only report, in source order; none of a lambda."""
    node = function.node
    return [] if isinstance(node, ast.Lambda) else list(_in_block(view, node.body))


def _in_block(view: FileView, block: list[ast.stmt]) -> Iterator[Unit]:
    for statement in block:
        said = _said_by(view, statement)
        if said:
            helpers = tuple(one.helper for one in said if one.helper is not None)
            yield Unit(statement, said[0].kind, tuple(one.call for one in said), helpers)
        elif isinstance(statement, ast.If) and never_traced(view, statement.test):
            yield from _in_block(view, statement.orelse)
        elif not isinstance(statement, FunctionNode | ast.ClassDef):
            for inner in blocks_of(statement):
                yield from _in_block(view, inner)


def never_traced(view: FileView, test: ast.expr) -> bool:
    """True for a test that is false while Dynamo captures: `not torch.compiler.is_compiling() and ...`."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=func)):
            name = (view.names.qualified(func) or "").rpartition(".")[2]
            return name in ("is_compiling", "is_dynamo_compiling", "is_torchdynamo_compiling")
        case ast.BoolOp(op=ast.And(), values=parts):
            return any(never_traced(view, part) for part in parts)
        case _:
            return False


def _said_by(view: FileView, statement: ast.stmt, depth: int = 0) -> list[_Said]:
    """The messages of a statement that does nothing but report; empty for any other statement."""
    match statement:
        case ast.Expr(value=ast.Call() as call):
            if view.names.qualified(call.func) == IN_GRAPH_PRINT:
                return [_Said(PRINT, call)]
            message = message_of(view, call)
            if message is not None:
                return [_Said(_KINDS[message.kind], call)]
            helper = reporting_helper(view, call, depth + 1) if depth < _DEPTH else None
            return [] if helper is None else [_Said(REPORT, call, helper)]
        case ast.If(test=test, body=body, orelse=orelse):
            if never_traced(view, test) or any(isinstance(part, ast.NamedExpr) for part in ast.walk(test)):
                return []
            parts = [part for part in [*body, *orelse] if not _does_nothing(part)]
            found = [_said_by(view, part, depth) for part in parts]
            return [one for said in found for one in said] if all(found) else []
        case _:
            return []


def reporting_helper(view: FileView, call: ast.Call, depth: int = 0) -> ast.FunctionDef | None:
    """The function among the given files that a call runs and that only reports, None when there is none."""
    found = definitions(view, call.func)
    if isinstance(call.func, ast.Attribute) and _is_overridden(view, call.func.attr):
        return None
    if len(found) != 1 or not isinstance(found[0].node, ast.FunctionDef):
        return None
    return found[0].node if only_reports(found[0].view, found[0].node, depth) else None


def _is_overridden(view: FileView, name: str) -> bool:
    """True when several classes of the files define a method of this name: which one runs is known at the call."""
    files = view.project.files.naming(f"def {name}")
    owners = {one.owner for _, file in files for one in file.functions if one.owner is not None and one.name == name}
    return len(owners) > 1


def only_reports(view: FileView, node: ast.FunctionDef, depth: int = 0) -> bool:
    """True for a function whose every statement is a message, or prepares one in a name of its own."""
    decorators = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    if not all(_is_plain_decorator(view, one) for one in decorators):
        return False
    says = False
    for statement in node.body:
        if _does_nothing(statement) or _prepares(view, statement):
            continue
        if isinstance(statement, ast.Return) and statement.value is None:
            continue
        if not _said_by(view, statement, depth):
            return False
        says = True
    return says


def _is_plain_decorator(view: FileView, node: ast.expr) -> bool:
    return view.names.qualified(node) in _PLAIN_DECORATORS or view.names.is_builtin(node, "staticmethod")


def _does_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _prepares(view: FileView, statement: ast.stmt) -> bool:
    """True for an assignment of something computed to plain names, which end with the function."""
    if not isinstance(statement, ast.Assign) or not all(isinstance(target, ast.Name) for target in statement.targets):
        return False
    if any(isinstance(part, ast.Await | ast.Yield | ast.YieldFrom) for part in ast.walk(statement)):
        return False
    calls = [part for part in ast.walk(statement.value) if isinstance(part, ast.Call)]
    scope = view.names.declared_outer(view.names.scope_of(statement))
    return all(_is_plain_call(view, call) for call in calls) and not names_in(statement.targets) & scope.keys()


def _is_plain_call(view: FileView, call: ast.Call) -> bool:
    """True for a call that only computes."""
    func = call.func
    if (view.names.qualified(func) or "").startswith(("torch.", "math.")):
        return "rand" not in (view.names.qualified(func) or "") and not any(k.arg == "out" for k in call.keywords)
    if isinstance(func, ast.Name):
        return func.id in _PLAIN_BUILTINS and view.names.is_builtin(func, func.id)
    return isinstance(func, ast.Attribute) and func.attr in _PLAIN_METHODS
