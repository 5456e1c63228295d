"""Loops over a tensor of integers whose elements Python needs as numbers: sizes, bounds, and what is made of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gbfix.analysis import sizes
from gbfix.analysis.flow import Flow, State, flow_of
from gbfix.analysis.literals import shorten
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import FunctionNode
from gbfix.analysis.values import Category, Kind
from gbfix.codemods._quotients_of_sizes import takes_sizes
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._repeated_items import DIMENSION, REPEATED, tensor_obligation
from gbfix.codemods._scalar_dtypes import DTYPE
from gbfix.codemods._scalar_reads import captures_scalars
from gbfix.codemods._unwritten import unwritten
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement

ADVICE = "pass the sizes as a list of Python numbers beside the tensor"
_NUMBER = "the elements are used as numbers"
_FROM_NUMBERS = frozenset({"torch.linspace", "torch.arange"})
_MOST_STEPS = 40


@dataclass
class _Uses:
    """What becomes of the elements. reads: some use makes Python wait for the value; rounding: arithmetic by line."""

    flow: Flow
    numbers: set[str]
    reads: bool = False
    steps: int = 0
    rounding: list[Obligation] = field(default_factory=list)


def row_findings(view: FileView) -> Iterator[Finding]:
    """Every loop of a compiled function over a tensor of integers that are needed as numbers."""
    if captures_scalars(view):
        return
    for compiled in view.compiled:
        if compiled.fullgraph is True or isinstance(compiled.function.node, ast.Lambda):
            continue
        flow = flow_of(view, compiled.function)
        for loop in [node for node in ast.walk(compiled.function.node) if isinstance(node, ast.For)]:
            if loop in flow.before and view.source.enclosing_function(loop) is compiled.function:
                found = _finding(view, compiled, flow, loop)
                if found is not None and not view.project.torch.captures("item"):
                    yield found


def _finding(view: FileView, compiled: CompiledFunction, flow: Flow, loop: ast.For) -> Finding | None:
    tensor, target = _iterated(flow, loop)
    names = _targets(target) if target is not None else []
    if tensor is None or not names:
        return None
    value = flow.evaluate(tensor, flow.before[loop])[0]
    if not value.tensor_like or value.dtype is None or value.dtype.category is not Category.INT:
        return None
    uses = _Uses(flow, {name.id for name in names})
    message = f"elements of {tensor.id} used as numbers"
    about = (*REPEATED, view.source.span(tensor), message, compiled.function.qualname, compiled.reason)
    try:
        sums = _sums(uses, loop)
        for name in [*names, *sums]:
            _all_uses(uses, name, loop)
        if not uses.reads:
            return None
        line = loop.lineno
        wanted = 2 if isinstance(target, ast.Tuple) else 1
        ranks = sizes.ranks(value.shape or ())
        if ranks and ranks != {wanted}:
            return None
        shown = Discharge.PROVED if ranks else Discharge.ASSUMED
        inside = [part for part in ast.walk(loop) if isinstance(part, ast.stmt) and part is not loop]
        obligations = (
            tensor_obligation(value, tensor.id, line, ADVICE),
            Obligation(DIMENSION if wanted == 1 else "the tensor has two dimensions", shown, f"{tensor.id} has", line),
            *uses.rounding,
            unwritten(flow, tensor.id, inside, line, "in the loop", ADVICE),
        )
    except RefusedError as refused:
        return Finding(*about, (refused.obligation,), advice=refused.advice) if uses.reads else None
    new = Replacement(view.source.span(tensor), f"{tensor.id}.tolist()")
    return Finding(*about, obligations, Fix("read all elements at once, before the loop", (new,)))


def _iterated(flow: Flow, loop: ast.For) -> tuple[ast.Name | None, ast.expr | None]:
    """The tensor that a loop goes through, and what takes each of its rows."""
    match loop.iter, loop.target:
        case ast.Name() as tensor, target:
            return tensor, target
        case (ast.Call(func=func, args=[ast.Name() as tensor], keywords=[]), ast.Tuple(elts=[ast.Name(), target])) if (
            flow.context.names.is_builtin(func, "enumerate")
        ):
            return tensor, target
    return None, None


def _sums(uses: _Uses, loop: ast.For) -> list[ast.Name]:
    """The names to which the loop adds numbers, which are numbers then."""
    found: dict[str, ast.Name] = {}
    for node in ast.walk(loop):
        match node:
            case ast.AugAssign(target=ast.Name() as name, value=value) if _is_number(uses, value):
                bindings = uses.flow.context.names.bindings(name.id, name)
                if any(_is_start(binding.node, uses.flow.context.source.parents) for binding in bindings):
                    found.setdefault(name.id, name)
    uses.numbers |= found.keys()
    return list(found.values())


def _targets(target: ast.expr) -> list[ast.Name]:
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    names = [part for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) else []


def _all_uses(uses: _Uses, name: ast.Name, loop: ast.For) -> None:
    """Follow every read of a name. Raises RefusedError for one that a Python number would change."""
    names, function = uses.flow.context.names, uses.flow.context.function.node
    scope = names.scope_of(name)
    if name.id in names.declared_outer(scope):
        raise _refused(name, f"{name.id} is a name of another scope")
    adds = _is_sum(uses, name)
    for binding in names.bindings(name.id, name):
        node = binding.node
        if node is not name and not (adds and (_is_start(node, names.source.parents) or _is_sum(uses, node))):
            raise _refused(name, f"{name.id} is also set elsewhere")
    inside = set(ast.walk(loop))
    for load in names.loads.get(name.id, ()):
        if names.lookup(load.id, load)[0] is not scope or not isinstance(load, ast.Name):
            continue
        holder = next((p for p in names.source.ancestors(load) if isinstance(p, FunctionNode)), None)
        if holder is not function or (load not in inside and not adds):
            raise _refused(load, f"{name.id} is read outside of the loop")
        _use(uses, load, loop, whole=True)


def _is_start(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """True for a name that an assignment sets to a constant integer."""
    match parents.get(node):
        case ast.Assign(targets=[target], value=ast.Constant(value=value)):
            return target is node and type(value) is int
    return False


def _is_sum(uses: _Uses, node: ast.AST) -> bool:
    """True for a name that numbers are added to."""
    parent = uses.flow.context.source.parents.get(node)
    return isinstance(parent, ast.AugAssign) and parent.target is node and isinstance(parent.op, ast.Add | ast.Sub)


def _use(uses: _Uses, node: ast.expr, loop: ast.For, *, whole: bool) -> None:
    """Follow one value to what it is used for; `whole` while it is an integer."""
    uses.steps += 1
    parent = uses.flow.context.source.parents[node]
    if uses.steps > _MOST_STEPS:
        raise _refused(node, "there are too many uses")
    match parent:
        case ast.BinOp(left=left, op=op, right=right):
            other = right if left is node else left
            if not isinstance(op, ast.Add | ast.Sub | ast.Mult | ast.Div):
                raise _refused(node, f"{_text(uses, parent)} is other arithmetic")
            if _is_number(uses, other):
                whole = whole and not isinstance(op, ast.Div) and not _is_float(other)
                _use(uses, parent, loop, whole=whole)
            else:
                _with_tensor(uses, parent, other)
        case ast.Slice() if whole:
            uses.reads = True
        case ast.Tuple() | ast.List() if whole and _is_size(uses, parent):
            uses.reads = True
        case ast.Call() if whole and node in parent.args and takes_sizes(uses.flow.context.names, parent):
            uses.reads = True
        case ast.Call() if node in parent.args and _makes_range(uses, parent):
            uses.reads = True
            if not whole:
                reason = f"{_text(uses, parent)} takes a number that Python computes in double precision"
                uses.rounding.append(Obligation(DTYPE, Discharge.ASSUMED, reason, parent.lineno))
        case ast.AugAssign(target=ast.Name(id=name)) if whole and parent.value is node and name in uses.numbers:
            return
        case _:
            uses.reads = uses.reads or isinstance(parent, ast.Slice)
            raise _refused(node, f"{_text(uses, parent)} uses one for something else")


def _with_tensor(uses: _Uses, node: ast.BinOp, other: ast.expr) -> None:
    """Arithmetic with a tensor: a number and a 0-d tensor are the same to it in single and double precision."""
    statement = next(p for p in uses.flow.context.source.ancestors(node) if isinstance(p, ast.stmt))
    state: State | None = uses.flow.before.get(statement)
    value = uses.flow.evaluate(other, state)[0] if state is not None else None
    text = _text(uses, node)
    if value is None or value.kind is not Kind.TENSOR:
        raise _refused(node, f"nothing shows what {text} computes with")
    exact = value.dtype is not None and value.dtype.term in ("float32", "float64", "torch.float32", "torch.float64")
    if exact and not value.is_scalar and not isinstance(node.op, ast.Div):
        uses.rounding.append(Obligation(DTYPE, Discharge.PROVED, f"{text} is in its precision", node.lineno))
    else:
        uses.rounding.append(Obligation(DTYPE, Discharge.ASSUMED, f"{text} may round otherwise", node.lineno))


def _is_number(uses: _Uses, node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return type(value) in (int, float)
        case ast.Name(id=name):
            return name in uses.numbers
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            return _is_number(uses, left) and _is_number(uses, right)
    return False


def _is_float(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Constant) and type(part.value) is float for part in ast.walk(node))


def _is_size(uses: _Uses, node: ast.expr) -> bool:
    """True for a list of sizes that a call is given."""
    parent = uses.flow.context.source.parents[node]
    return isinstance(parent, ast.Call) and node in parent.args and takes_sizes(uses.flow.context.names, parent)


def _makes_range(uses: _Uses, call: ast.Call) -> bool:
    """True for torch.arange, and torch.linspace with a dtype: their results do not tell a number from a tensor."""
    name = uses.flow.context.names.qualified(call.func)
    typed = name == "torch.arange" or any(keyword.arg == "dtype" for keyword in call.keywords)
    return name in _FROM_NUMBERS and typed


def _text(uses: _Uses, node: ast.AST) -> str:
    return shorten(uses.flow.context.source.segment(node))


def _refused(node: ast.expr, reason: str) -> RefusedError:
    return RefusedError(_NUMBER, reason, node.lineno, ADVICE)
