"""Every use of a counter of a module, and the edit that makes it a buffer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis import values as v
from gbfix.analysis.flow import flow_of
from gbfix.analysis.literals import shorten
from gbfix.analysis.project import FileView
from gbfix.analysis.source import Function, SourceFile
from gbfix.analysis.values import Kind
from gbfix.codemods._attribute_reach import HOOKS, OF_MODULE, bound_in_classes, mode_used, reached_otherwise
from gbfix.codemods._counter_property import check_free, through_property, with_property
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Fix, Obligation, Replacement

USES = "every reader and writer of the attribute is known"
MODES = "no transform or dispatch mode runs it"
ROUNDING = "arithmetic rounds as with a number"
ADVICE = (
    "keep the count outside of the module, in the loop that calls it; or register a buffer that is not persistent and "
    "read it with int(...) outside of compiled code; torch._dynamo.config.allow_unspec_int_on_nn_module = True makes "
    "every such number a symbol"
)

_LARGEST = 2**31  # one after the other, no program takes enough of such steps to leave 64 bits


@dataclass(frozen=True)
class Counter:
    """An attribute of a class."""

    view: FileView
    owner: ast.ClassDef
    name: str

    @property
    def source(self) -> SourceFile:
        """The file of the class."""
        return self.view.source


def starts_as_number(counter: Counter) -> bool:
    """True when the class gives the attribute an integer somewhere, so that it is no tensor."""
    for node in ast.walk(counter.owner):
        match node:
            case ast.Assign(targets=targets, value=ast.Constant(value=int())):
                names = (getattr(target, "attr", getattr(target, "id", "")) for target in targets)
                if counter.name in names:
                    return True
    return False


def counter_fix(counter: Counter) -> tuple[Fix, tuple[Obligation, ...]]:
    """The edit with what it relies on. Raises RefusedError."""
    start = _start(counter)
    _check_plain(counter, start)
    public = not counter.name.startswith("_")
    held = f"_{counter.name}" if public else counter.name
    steps: list[tuple[ast.AST, str]] = []
    reads: list[ast.Attribute] = []
    for path, node in uses_of(counter):
        if node is start.targets[0] or _is_step(counter, node, held, steps):
            continue
        if path == counter.source.path and is_own(counter, node) and isinstance(node.ctx, ast.Load):
            if not public or _is_compiled(counter, node):
                reads.append(node)
        elif not public or not through_property(counter.view.project, path, node, _LARGEST):
            raise RefusedError(USES, f"{path}:{node.lineno} uses an attribute of this name", node.lineno, ADVICE)
    edits = dict(steps)
    obligations = [_uses_known(counter, start.lineno), *_modes(counter)]
    for node in reads:
        obligations.append(_rounding(counter, node))
        edits[node] = f"{counter.source.segment(node.value)}.{held}.clone()"
    receiver, value = start.targets[0], start.value
    assert isinstance(receiver, ast.Attribute)
    assert isinstance(receiver.value, ast.Name)
    assert isinstance(value, ast.Constant)
    name = receiver.value.id
    edits[start] = f'{name}.register_buffer("{held}", torch.tensor({value.value!r}), persistent=False)'
    replacements = [Replacement(counter.source.span(node), new) for node, new in edits.items() if node is not start]
    if public:
        check_free(counter.view.project, held, ADVICE)
        replacements.append(with_property(counter.source, start, (counter.name, held), edits[start]))
    else:
        replacements.append(Replacement(counter.source.span(start), edits[start]))
    fix = Fix(f"make {counter.name} a buffer", tuple(sorted(replacements, key=lambda one: one.span)), ("torch",))
    return fix, tuple(obligations)


def _uses_known(counter: Counter, line: int) -> Obligation:
    public = not counter.name.startswith("_")
    otherwise = reached_otherwise(counter.view.project, by_name=not public)
    if otherwise is not None:
        return Obligation(USES, Discharge.ASSUMED, f"{otherwise[0]} may reach attributes of any name", otherwise[1])
    if public:
        return Obligation(USES, Discharge.PROVED, "others read and set the number through a property", line)
    return Obligation(USES, Discharge.PROVED, "all uses of the private name are in the class", line)


def _is_compiled(counter: Counter, node: ast.AST) -> bool:
    """True for a use in code that Dynamo traces, or may trace."""
    functions = {compiled.function.node for compiled in counter.view.compiled}
    return any(parent in functions for parent in counter.source.ancestors(node))


def _modes(counter: Counter) -> list[Obligation]:
    """A number is the same in every mode; a tensor that is made or written in another one may raise."""
    found = mode_used(counter.view.project)
    if found is None:
        return []
    return [Obligation(MODES, Discharge.ASSUMED, f"{found[0]} uses one, or another device", found[1])]


def _check_plain(counter: Counter, start: ast.Assign) -> None:
    """Raise RefusedError where a buffer of this name cannot be made, or is not an attribute like others."""
    name, line = counter.name, start.lineno
    claim = "a buffer can have the name"
    if name.startswith("__") or name in OF_MODULE:
        raise RefusedError(claim, f"self.{name} is changed by its class, or one of torch.nn.Module", line, ADVICE)
    for place, at in bound_in_classes(counter.view.project, name):
        raise RefusedError(claim, f"{place} gives a class this name", at, ADVICE)
    for member in counter.owner.body:
        if getattr(member, "name", "") in HOOKS:
            raise RefusedError(claim, f"{getattr(member, 'name', '')} of the class may see it", member.lineno, ADVICE)
    for node in ast.walk(counter.owner):
        if isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) > _LARGEST:
            raise RefusedError("the count fits an integer of 64 bits", f"{node.value} is large", node.lineno, ADVICE)


def _start(counter: Counter) -> ast.Assign:
    """The one assignment of a constant in `__init__`, behind the call of the base class."""
    inits = [f for f in counter.source.functions if f.owner is counter.owner and f.name == "__init__"]
    body = inits[0].node.body if len(inits) == 1 and not isinstance(inits[0].node, ast.Lambda) else []
    made = False
    for statement in body:
        made = made or "super().__init__(" in counter.source.segment(statement)
        match statement:
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=ast.Constant(value=int() as value)) if (
                made and name == counter.name and type(value) is int
            ):
                return statement
    reason = f"__init__ does not set self.{counter.name} to a constant, behind super().__init__()"
    raise RefusedError("the first value is known", reason, counter.owner.lineno, ADVICE)


def uses_of(counter: Counter) -> Iterator[tuple[str, ast.Attribute]]:
    """The attributes of this name that may be the counter, in all files. Raises RefusedError for one by its text."""
    for path, source in counter.view.project.files.naming(counter.name, "buffers"):
        for node in source.nodes:
            by_text = isinstance(node, ast.Constant) and node.value == counter.name
            if by_text and counter.name.startswith("_"):  # a property is found by its name as well
                line = getattr(node, "lineno", 0)
                raise RefusedError(USES, f"{path}:{line} has its name in a text", line, ADVICE)
            if not isinstance(node, ast.Attribute):
                continue
            if node.attr in ("buffers", "named_buffers", "_buffers"):
                raise RefusedError(USES, f"{path}:{node.lineno} goes through the buffers", node.lineno, ADVICE)
            if node.attr == counter.name and not _is_another(counter, source, node):
                yield path, node


def _is_another(counter: Counter, source: SourceFile, node: ast.Attribute) -> bool:
    """True for a call, which a number does not take, and for the `self` of a class without a base in the project."""
    parent = source.parents[node]
    if isinstance(parent, ast.Call) and parent.func is node:
        return True
    function = source.enclosing_function(node)
    if function is None or function.owner is None or function.owner is counter.owner or not _is_self(function, node):
        return False
    own = {n.name for s in counter.view.project.files.values() for n in ast.walk(s.tree) if isinstance(n, ast.ClassDef)}
    bases = [getattr(base, "id", getattr(base, "attr", "")) for base in function.owner.bases]
    return not any(base in own or not base for base in bases)


def _is_self(function: Function, node: ast.Attribute) -> bool:
    parameters = function.parameters
    return bool(parameters) and isinstance(node.value, ast.Name) and node.value.id == parameters[0].arg


def is_own(counter: Counter, node: ast.Attribute) -> bool:
    """True for an attribute of the first parameter of a method of the class."""
    function = counter.source.enclosing_function(node)
    return function is not None and function.owner is counter.owner and _is_self(function, node)


def _is_step(counter: Counter, node: ast.Attribute, held: str, edits: list[tuple[ast.AST, str]]) -> bool:
    """True within a statement of compiled code that adds a constant; those get edits."""
    if node not in counter.source.parents or not is_own(counter, node):
        return False
    if held != counter.name and not _is_compiled(counter, node):
        return False
    receiver = counter.source.segment(node.value)
    parent = counter.source.parents[node]
    match parent:
        case ast.AugAssign(target=target, op=ast.Add() | ast.Sub(), value=ast.Constant(value=int() as amount)):
            if target is not node or type(amount) is not int:
                return False
            if held != counter.name:
                edits.append((node, f"{receiver}.{held}"))
            return True
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=int() as amount)) if left is node:
            statement = counter.source.parents[parent]
            return type(amount) is int and _assigns(counter, statement)
        case ast.Assign(
            value=ast.BinOp(left=ast.Attribute() as left, op=ast.Add(), right=ast.Constant(value=int() as n))
        ):
            if _assigns(counter, parent) and type(n) is int and left.attr == counter.name and is_own(counter, left):
                edits.append((parent, f"{receiver}.{held} += {n}"))
                return True
    return False


def _assigns(counter: Counter, statement: ast.AST) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Attribute(attr=name) as target]):
            return name == counter.name and is_own(counter, target)
        case _:
            return False


def _rounding(counter: Counter, node: ast.Attribute) -> Obligation:
    """Arithmetic with a tensor, which must be one of single or double precision."""
    claim = "it is read for arithmetic with a tensor"
    parent = counter.source.parents[node]
    text = shorten(counter.source.segment(parent))
    operators = (ast.Add, ast.Sub, ast.Mult, ast.Div)
    if not isinstance(parent, ast.BinOp) or not isinstance(parent.op, operators):
        raise RefusedError(claim, f"{text} reads it for something else", node.lineno, ADVICE)
    other = parent.right if parent.left is node else parent.left
    function = counter.source.enclosing_function(node)
    statement = next(p for p in counter.source.ancestors(node) if isinstance(p, ast.stmt))
    assert function is not None
    flow = flow_of(counter.view, function)
    state = flow.before.get(statement)
    held = flow.evaluate(other, state)[0] if state is not None else None
    if held is None or held.kind is not Kind.TENSOR:
        raise RefusedError(claim, f"{text} may compute with Python numbers", node.lineno, ADVICE)
    exact = [v.concrete_dtype(name) for name in ("torch.float32", "torch.float64", "float32", "float64")]
    if isinstance(parent.op, ast.Div):
        return Obligation(
            ROUNDING, Discharge.ASSUMED, f"{text} divides by way of a reciprocal for a number", node.lineno
        )
    if held.dtype is not None and held.dtype in exact:
        return Obligation(ROUNDING, Discharge.PROVED, f"{text} is in single or double precision", node.lineno)
    return Obligation(ROUNDING, Discharge.ASSUMED, f"{text} may be in half precision, or a number", node.lineno)
