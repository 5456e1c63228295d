"""Where a number goes that a function hands to others: through calls of functions of the given files."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import field

from gbfix.analysis.flow import Flow, flow_of
from gbfix.analysis.literals import shorten
from gbfix.analysis.names import Names
from gbfix.analysis.project import FileView
from gbfix.analysis.source import Function
from gbfix.analysis.tree import names_in
from gbfix.codemods._follow import TRANSPARENT, definition_of, parameter_of
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._scalar_reads import statement_of
from gbfix.codemods._scalar_sinks import OUTSIDE, sink
from gbfix.codemods._scalar_uses import Meeting
from gbfix.engine.dataclass import dataclass

SCALES = "the number only scales tensors"
_SCOPES = frozenset({"locals", "vars", "eval", "exec"})


@dataclass(frozen=True)
class Met:
    """A number meets a tensor in a function, whose flow knows the tensor."""

    flow: Flow
    meeting: Meeting


@dataclass
class Handed:
    """Everything that becomes of a number. functions: those that get it, by qualified name, in the order met."""

    meetings: list[Met] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)


def handed_of(flow: Flow, name: str, statement: ast.stmt) -> Handed:
    """What becomes of the number that a statement binds to a name. Raises RefusedError."""
    found = _Follower()
    found.follow(flow, _loads_after(flow, name, statement))
    return found.handed


def _loads_after(flow: Flow, name: str, statement: ast.stmt) -> list[ast.Name]:
    """The readings of what a statement directly in the body of its function binds, if nothing binds the name later."""
    context, function = flow.context, flow.context.function.node
    names = context.names
    owner, bindings = names.lookup(name, statement)
    claim, line = "every value of the name is known", statement.lineno
    if owner is not function or isinstance(function, ast.Lambda) or statement not in function.body:
        raise RefusedError(claim, f"{name} is set under a condition, in a loop or elsewhere", line, OUTSIDE)
    if _SCOPES & set(names_in([function])):
        raise RefusedError(claim, f"the function reads its names in another way than by {name}", line, OUTSIDE)
    last = max(_line(binding.node) for binding in bindings)
    if last > line:
        raise RefusedError(claim, f"{name} is set again in line {last}", line, OUTSIDE)
    loads = [load for load in names.loads.get(name, []) if names.lookup(name, load)[0] is owner]
    for load in loads:
        if names.scope_of(load) is not owner:
            raise RefusedError(claim, f"an inner function reads {name}", load.lineno, OUTSIDE)
    end = statement.end_lineno or line
    return [load for load in loads if load.lineno > end]


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


class _Follower:
    def __init__(self) -> None:
        self.handed = Handed()
        self._seen: set[tuple[ast.AST, str]] = set()

    def follow(self, flow: Flow, loads: Sequence[ast.Name]) -> None:
        for load in loads:
            parent = flow.context.source.parents[load]
            match parent:
                case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right) if right is load or isinstance(
                    op, ast.Mult
                ):
                    self._meet(flow, load, left if right is load else right, type(op), right is load)
                case ast.Call() if load in parent.args:
                    self._call(flow, parent, parent, load)
                case ast.keyword() if parent.arg is not None:
                    call = flow.context.source.parents[parent]
                    assert isinstance(call, ast.Call)
                    self._call(flow, call, parent, load)
                case _:
                    reason, advice = sink(load.id, parent)
                    raise RefusedError(SCALES, reason, load.lineno, advice)

    def _meet(self, flow: Flow, load: ast.Name, other: ast.expr, operator: type[ast.AST], right: bool) -> None:
        statement = statement_of(flow.context, load)
        state = flow.before.get(statement) if statement is not None else None
        if state is None:
            return  # never reached
        value = flow.evaluate(other, state)[0]
        if not value.tensor_like:
            text = shorten(flow.context.source.segment(other), 40)
            raise RefusedError(SCALES, f"{text} is no tensor", load.lineno, OUTSIDE)
        self.handed.meetings.append(Met(flow, Meeting(load, other, value, operator, right, load.lineno)))

    def _call(self, flow: Flow, call: ast.Call, parent: ast.Call | ast.keyword, use: ast.Name) -> None:
        for where, function, bound in _callees(flow, call):
            node = function.node
            assert isinstance(node, ast.FunctionDef)
            name = parameter_of(node, call, parent, use, 1 if bound else 0)
            if name is None or name not in {one.arg for one in function.parameters}:
                reason = f"{function.qualname} takes it among others"
                raise RefusedError(SCALES, reason, call.lineno, OUTSIDE)
            self._parameter(where, function, name)

    def _parameter(self, view: FileView, function: Function, name: str) -> None:
        if (function.node, name) in self._seen:
            return
        self._seen.add((function.node, name))
        self.handed.functions.append(function.qualname)
        names: Names = view.names
        line = function.node.lineno
        bindings = names.local_bindings(function.node).get(name, [])
        if len(bindings) != 1 or not isinstance(bindings[0].node, ast.arg) or _SCOPES & set(names_in([function.node])):
            raise RefusedError(SCALES, f"{function.qualname} sets {name} itself", line, OUTSIDE)
        loads = [one for one in names.loads.get(name, []) if names.lookup(name, one)[0] is function.node]
        for load in loads:
            if names.scope_of(load) is not function.node:
                reason = f"a function in {function.qualname} reads {name}"
                raise RefusedError(SCALES, reason, load.lineno, OUTSIDE)
        self.follow(flow_of(view, function), loads)


def _callees(flow: Flow, call: ast.Call) -> list[tuple[FileView, Function, bool]]:
    """The functions that a call may run, each with whether `self` is bound to it already. Raises RefusedError."""
    text = shorten(flow.context.source.segment(call.func), 40)
    starred = any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)
    found = [] if starred else list(_functions(flow, call.func))
    for where, function, _ in found:
        node = function.node
        assert isinstance(node, ast.FunctionDef)
        plain = all((where.names.qualified(_called(one)) or "") in TRANSPARENT for one in node.decorator_list)
        if not plain or any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node)):
            raise RefusedError(SCALES, f"{function.qualname} has decorators or yields", call.lineno, OUTSIDE)
    if not found:
        raise RefusedError(SCALES, f"it is handed to {text}, which is not followed", call.lineno, OUTSIDE)
    return found


def _called(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def _functions(flow: Flow, function: ast.expr) -> Iterator[tuple[FileView, Function, bool]]:
    """What an expression that is called stands for; nothing where one of several is not known."""
    view, owner = flow.context.view, flow.context.function.owner
    parameters = flow.context.function.parameters
    decorators = getattr(flow.context.function.node, "decorator_list", [])
    is_method = owner is not None and not any(view.names.is_builtin(one, "staticmethod") for one in decorators)
    match function:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if (
            is_method and owner is not None and parameters and name == parameters[0].arg
        ):
            yield from _methods(view, owner, attribute)
        case ast.Name():
            found = definition_of(view, function)
            if found is not None and isinstance(found[1], ast.FunctionDef):
                yield found[0], found[0].source.function_of_node[found[1]], False
        case ast.Subscript(value=ast.Name() as table):
            yield from _entries(flow, table)


def _entries(flow: Flow, table: ast.Name) -> Iterator[tuple[FileView, Function, bool]]:
    """The functions of a dict that this function makes and only asks: `{"a": self.a, "b": self.b}[name]`."""
    view = flow.context.view
    owner, bindings = view.names.lookup(table.id, table)
    if owner is not flow.context.function.node or len(bindings) != 1:
        return
    made = view.source.parents.get(bindings[0].node)
    if not isinstance(made, ast.Assign) or not isinstance(made.value, ast.Dict):
        return
    for load in view.names.loads.get(table.id, []):
        if view.names.lookup(table.id, load)[0] is owner and not _only_asks(view, load):
            return
    held = [list(_functions(flow, value)) for value in made.value.values]
    if all(held) and None not in made.value.keys:
        for functions in held:
            yield from functions


def _only_asks(view: FileView, load: ast.Name) -> bool:
    match view.source.parents[load]:
        case ast.Subscript(ctx=ast.Load()):
            return True
        case ast.Compare(ops=[ast.In() | ast.NotIn()]):
            return True
        case ast.FormattedValue() | ast.Attribute(attr="keys"):
            return True
        case _:
            return False


def _methods(view: FileView, owner: ast.ClassDef, name: str) -> Iterator[tuple[FileView, Function, bool]]:
    """Every method of a name in the classes that may be, by their names, a base or a subclass of a class."""
    related = _related(view, owner, name)
    for path, source in view.project.files.naming(f"def {name}("):
        for function in source.functions:
            if function.name == name and function.owner is not None and function.owner.name in related:
                where = view.project.view(path)
                decorated = getattr(function.node, "decorator_list", [])
                static = any(where.names.is_builtin(one, "staticmethod") for one in decorated)
                if isinstance(function.node, ast.FunctionDef) and not static:
                    yield where, function, True


def _related(view: FileView, owner: ast.ClassDef, method: str) -> set[str]:
    """The names of the classes that an object of a class, or of one that derives from it, may have a method from.

    Classes go by their names alone, so that others of the same name count as well.
    """
    bases: dict[str, set[str]] = {}
    for _, source in view.project.files.naming(f"def {method}(", owner.name):
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef):
                bases.setdefault(node.name, set()).update(_last(base) for base in node.bases)
    deriving = [name for name in bases if owner.name in _reached(name, bases)]
    return set().union(*(_reached(name, bases) for name in (owner.name, *deriving)))


def _reached(name: str, bases: dict[str, set[str]]) -> set[str]:
    found, pending = set(), [name]
    while pending:
        one = pending.pop()
        if one not in found:
            found.add(one)
            pending += bases.get(one, ())
    return found


def _last(base: ast.expr) -> str:
    return base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
