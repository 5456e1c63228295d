"""What becomes of the elements of a tensor of integers: sizes, bounds, and what is made of them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import field

from gbfix.analysis.flow import Flow, State
from gbfix.analysis.literals import shorten
from gbfix.analysis.source import FunctionNode
from gbfix.analysis.values import Kind
from gbfix.codemods._quotients_of_sizes import takes_sizes
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._scalar_dtypes import DTYPE
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Obligation

ADVICE = "pass the sizes as a list of Python numbers beside the tensor"
NUMBER = "the elements are used as numbers"
_FROM_NUMBERS = frozenset({"torch.linspace", "torch.arange"})
EXACT = "the numbers are exact in the precision of what they meet"
_MOST_STEPS = 40


@dataclass
class RowUses:
    """What becomes of the elements. reads: some use makes Python wait for the value; rounding: arithmetic by line.

    lenient: what is indexed as only arrays are may be met, too, which is then assumed to be a tensor.
    """

    flow: Flow
    numbers: set[str]
    lenient: bool = False
    reads: bool = False
    steps: int = 0
    rounding: list[Obligation] = field(default_factory=list)


def follow(uses: RowUses, names: Sequence[ast.Name], loop: ast.For) -> None:
    """Follow the elements that a loop gives these names. Raises RefusedError for a use that tells them from numbers."""
    sums = _sums(uses, loop)
    for name in [*names, *sums]:
        _all_uses(uses, name, loop)


def iterated(flow: Flow, loop: ast.For) -> tuple[ast.Name | None, ast.expr | None]:
    """The tensor that a loop goes through, and what takes each of its rows."""
    match loop.iter, loop.target:
        case ast.Name() as tensor, target:
            return tensor, target
        case (ast.Call(func=func, args=[ast.Name() as tensor], keywords=[]), ast.Tuple(elts=[ast.Name(), target])) if (
            flow.context.names.is_builtin(func, "enumerate")
        ):
            return tensor, target
    return None, None


def _sums(uses: RowUses, loop: ast.For) -> list[ast.Name]:
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


def targets_of(target: ast.expr) -> list[ast.Name]:
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    names = [part for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) else []


def _all_uses(uses: RowUses, name: ast.Name, loop: ast.For) -> None:
    """Follow every read of a name. Raises RefusedError for one that a Python number would change."""
    names, function = uses.flow.context.names, uses.flow.context.function.node
    scope = names.scope_of(name)
    if name.id in names.declared_outer(scope):
        raise _refused(name, f"{name.id} is a name of another scope")
    adds = _is_sum(uses, name)
    inside = set(ast.walk(loop))
    for binding in names.bindings(name.id, name):
        node = binding.node
        summed = adds and (_is_start(node, names.source.parents) or _is_sum(uses, node))
        if node is not name and not summed and (adds or node in inside):
            raise _refused(name, f"{name.id} is also set elsewhere")
    for load in names.loads.get(name.id, ()):
        if names.lookup(load.id, load)[0] is not scope or not isinstance(load, ast.Name):
            continue
        holder = next((p for p in names.source.ancestors(load) if isinstance(p, FunctionNode)), None)
        if load not in inside and not adds and holder is function and _has_another_value(uses, load, loop):
            continue
        if holder is not function or (load not in inside and not adds):
            raise _refused(load, f"{name.id} is read outside of the loop")
        _use(uses, load, loop, whole=True)


def _has_another_value(uses: RowUses, load: ast.Name, loop: ast.For) -> bool:
    """True for a name outside of a loop that stands before it, or that another loop sets."""
    source = uses.flow.context.source
    repeats = [one for one in source.ancestors(loop) if isinstance(one, ast.For | ast.AsyncFor | ast.While)]
    if not repeats and source.span(load).end < source.span(loop).start:
        return True
    child: ast.AST = load
    for parent in source.ancestors(load):
        if isinstance(parent, ast.For) and parent not in repeats and child in parent.body:
            targets = [part.id for part in ast.walk(parent.target) if isinstance(part, ast.Name)]
            if load.id in targets:
                return True
        child = parent
    return False


def _is_start(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """True for a name that an assignment sets to a constant integer."""
    match parents.get(node):
        case ast.Assign(targets=[target], value=ast.Constant(value=value)):
            return target is node and type(value) is int
    return False


def _is_sum(uses: RowUses, node: ast.AST) -> bool:
    """True for a name that numbers are added to."""
    parent = uses.flow.context.source.parents.get(node)
    return isinstance(parent, ast.AugAssign) and parent.target is node and isinstance(parent.op, ast.Add | ast.Sub)


def _use(uses: RowUses, node: ast.expr, loop: ast.For, *, whole: bool) -> None:
    """Follow one value to what it is used for; `whole` while it is an integer."""
    uses.steps += 1
    parent = uses.flow.context.source.parents[node]
    if uses.steps > _MOST_STEPS:
        raise _refused(node, "there are too many uses")
    match parent:
        case ast.BinOp(left=left, op=op, right=right):
            other = right if left is node else left
            if left is node and whole and isinstance(op, ast.FloorDiv | ast.Mod) and _is_above_zero(right):
                _use(uses, parent, loop, whole=True)
                return
            if not isinstance(op, ast.Add | ast.Sub | ast.Mult | ast.Div):
                raise _refused(node, f"{_text(uses, parent)} is other arithmetic")
            if _is_number(uses, other):
                whole = whole and not isinstance(op, ast.Div) and not _is_float(other)
                _use(uses, parent, loop, whole=whole)
            else:
                _with_tensor(uses, parent, other, whole=whole)
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
                uses.rounding.append(Obligation(EXACT, Discharge.ASSUMED, reason, parent.lineno))
        case ast.AugAssign(target=ast.Name(id=name)) if whole and parent.value is node and name in uses.numbers:
            return
        case _:
            uses.reads = uses.reads or isinstance(parent, ast.Slice)
            raise _refused(node, f"{_text(uses, parent)} uses one for something else")


def _with_tensor(uses: RowUses, node: ast.BinOp, other: ast.expr, *, whole: bool) -> None:
    """Arithmetic with a tensor: an integer and a 0-d tensor are the same to it in single and double precision."""
    statement = next(p for p in uses.flow.context.source.ancestors(node) if isinstance(p, ast.stmt))
    state: State | None = uses.flow.before.get(statement)
    value = uses.flow.evaluate(_without_numbers(uses, other), state)[0] if state is not None else None
    text = _text(uses, node)
    known = value is not None and value.kind is Kind.TENSOR
    if not known and not (uses.lenient and _is_indexed_as_arrays(_without_numbers(uses, other))):
        raise _refused(node, f"nothing shows what {text} computes with")
    dtype = value.dtype if known and value is not None else None
    exact = dtype is not None and dtype.term in ("float32", "float64", "torch.float32", "torch.float64")
    if exact and whole and value is not None and not value.is_scalar and not isinstance(node.op, ast.Div):
        uses.rounding.append(Obligation(DTYPE, Discharge.PROVED, f"{text} is in its precision", node.lineno))
    elif whole and not isinstance(node.op, ast.Div):
        uses.rounding.append(Obligation(EXACT, Discharge.ASSUMED, f"{text} may be in half precision", node.lineno))
    else:
        uses.rounding.append(Obligation(DTYPE, Discharge.ASSUMED, f"{text} may round otherwise", node.lineno))


def _without_numbers(uses: RowUses, node: ast.expr) -> ast.expr:
    """What meets numbers in sums and products: they have its shape and, for a floating tensor, its dtype."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            if _is_number(uses, right):
                return _without_numbers(uses, left)
            if _is_number(uses, left):
                return _without_numbers(uses, right)
    return node


def _is_indexed_as_arrays(node: ast.expr) -> bool:
    """True for `x[:, None, i]`, which nothing but arrays and tensors take."""
    match node:
        case ast.Subscript(slice=ast.Tuple(elts=parts)):
            return any(isinstance(part, ast.Slice) or _is_none(part) for part in parts)
    return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_above_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value > 0


def _is_number(uses: RowUses, node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return type(value) in (int, float)
        case ast.Name(id=name):
            return name in uses.numbers
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            return _is_number(uses, left) and _is_number(uses, right)
        case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Mod(), right=right):
            return _is_number(uses, left) and not _is_float(left) and _is_above_zero(right)
    return False


def _is_float(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Constant) and type(part.value) is float for part in ast.walk(node))


def _is_size(uses: RowUses, node: ast.expr) -> bool:
    """True for a list of sizes that a call is given."""
    parent = uses.flow.context.source.parents[node]
    return isinstance(parent, ast.Call) and node in parent.args and takes_sizes(uses.flow.context.names, parent)


def _makes_range(uses: RowUses, call: ast.Call) -> bool:
    """True for torch.arange, and torch.linspace with a dtype: their results do not tell a number from a tensor."""
    name = uses.flow.context.names.qualified(call.func)
    typed = name == "torch.arange" or any(keyword.arg == "dtype" for keyword in call.keywords)
    return name in _FROM_NUMBERS and typed


def _text(uses: RowUses, node: ast.AST) -> str:
    return shorten(uses.flow.context.source.segment(node))


def _refused(node: ast.expr, reason: str) -> RefusedError:
    return RefusedError(NUMBER, reason, node.lineno, ADVICE)
