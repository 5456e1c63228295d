"""Whether a list that a tensor is made from holds nothing but integers, or rows of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gbfix.analysis.flow import Flow
from gbfix.analysis.literals import shorten
from gbfix.analysis.names import Binding
from gbfix.analysis.values import Kind
from gbfix.codemods._claims import INTEGERS
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Obligation

WHOLE = "the list holds nothing but integers"
ADVICE = "make the list of sizes, or of what int() gives, and read the list where numbers are needed"
_LARGE = 2**31
_MOST_STEPS = 30


@dataclass(frozen=True)
class Element:
    """What one element of a list is. rank: 0 for an integer, 1 for a row. width: the length of the row, if known.

    changes: the row is a list, which may be changed in place. shapes: the objects whose sizes it is made of.
    """

    rank: int
    width: int | None = None
    changes: bool = False
    shapes: tuple[ast.expr, ...] = ()


class Elements:
    """Reads the elements of the lists of one function."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._names = flow.context.names
        self._source = flow.context.source
        self._steps = 0
        self._open: ast.expr | None = None

    def all_of(self, elements: Sequence[ast.expr]) -> tuple[Element, list[Obligation]]:
        """What the elements of a list have in common. Raises RefusedError where one may be no integer."""
        self._steps, self._open = 0, None
        read = [(node, self._element(node)) for node in elements]
        found: list[Element] = []
        for node, one in read:
            if one is None:
                raise RefusedError(WHOLE, f"nothing shows it of {self._text(node)}", node.lineno, ADVICE)
            if found and (one.rank, one.width) != (found[0].rank, found[0].width):
                raise RefusedError(WHOLE, f"{self._text(node)} is of another kind", node.lineno, ADVICE)
            found.append(one)
        if not found:
            line = self._flow.context.function.node.lineno
            raise RefusedError(WHOLE, "nothing shows what is put into it", line, ADVICE)
        changes = any(one.changes for one in found)
        return Element(found[0].rank, found[0].width, changes), list(self._obligations(read))

    def _obligations(self, read: Sequence[tuple[ast.expr, Element | None]]) -> Iterator[Obligation]:
        owners = {owner: None for _, one in read if one is not None for owner in one.shapes}
        unknown = [owner for owner in owners if not self._is_tensor(owner)]
        if unknown:
            reason = f"nothing shows that {self._text(unknown[0])} is a tensor, whose sizes are integers"
            yield Obligation(WHOLE, Discharge.ASSUMED, reason, unknown[0].lineno)
        else:
            reason = "sizes, lengths and whole numbers are put into it"
            yield Obligation(WHOLE, Discharge.PROVED, reason, read[0][0].lineno)
        if self._open is not None:
            reason = f"{self._text(self._open)} may be any integer, and products of tensors wrap around"
            yield Obligation(INTEGERS, Discharge.ASSUMED, reason, self._open.lineno)

    def _is_tensor(self, node: ast.expr) -> bool:
        statement = next((one for one in self._source.ancestors(node) if isinstance(one, ast.stmt)), None)
        state = self._flow.before.get(statement) if statement is not None else None
        value = self._flow.evaluate(node, state)[0] if state is not None else None
        return value is not None and value.kind is Kind.TENSOR and not value.assumed

    def _element(self, node: ast.expr) -> Element | None:
        whole = self._whole(node)
        return Element(0, shapes=whole) if whole is not None else self._row(node)

    def _row(self, node: ast.expr) -> Element | None:
        match node:
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                found = [self._whole(part) for part in parts]
                shapes = tuple(owner for one in found if one is not None for owner in one)
                return None if None in found else Element(1, len(parts), isinstance(node, ast.List), shapes)
            case ast.Name():
                rows = [self._row(value) for value in self._values_of(node)]
                if not rows or any(row is None for row in rows):
                    return None
                known = [row for row in rows if row is not None]
                width = known[0].width if len({row.width for row in known}) == 1 else None
                shapes = tuple(owner for row in known for owner in row.shapes)
                # Another name for a row that is a list may change it.
                return None if any(row.changes for row in known) else Element(1, width, False, shapes)
        owner = self._shape(node)
        return None if owner is None else Element(1, None, False, (owner,))

    def _values_of(self, name: ast.Name) -> list[ast.expr]:
        """What plain assignments give a name of the function; nothing where anything else sets it."""
        found = []
        for binding in self._bindings(name):
            match self._source.parents.get(binding.node):
                case ast.Assign(targets=[target], value=value) if target is binding.node:
                    found.append(value)
                case _:
                    return []
        return found if self._follow() else []

    def _whole(self, node: ast.expr) -> tuple[ast.expr, ...] | None:
        """The objects of whose sizes an integer is made; None where nothing shows that it is one."""
        match node:
            case ast.Constant(value=value):
                return () if type(value) is int and abs(value) < _LARGE else None
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._whole(operand)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv(), right=right):
                sides = self._whole(left), self._whole(right)
                return None if sides[0] is None or sides[1] is None else (*sides[0], *sides[1])
            case ast.Call(func=ast.Name() as func, args=[_], keywords=[]) if self._names.is_builtin(func, "len"):
                return ()
            case ast.Call(func=ast.Name() as func, args=[_], keywords=[]) if self._names.is_builtin(func, "int"):
                self._open = self._open or node
                return ()
            case ast.Subscript(value=shape, slice=index) if not isinstance(index, ast.Slice):
                owner = self._shape(shape)
                return None if owner is None else (owner,)
            case ast.Call(func=ast.Attribute(value=owner, attr="size"), args=[_], keywords=[]):
                return (owner,)
            case ast.Name():
                return self._whole_name(node)
        return None

    def _whole_name(self, name: ast.Name) -> tuple[ast.expr, ...] | None:
        bindings = self._bindings(name)
        if not bindings or not self._follow():
            return None
        found = [self._bound(binding.node) for binding in bindings]
        return None if None in found else tuple(owner for one in found if one is not None for owner in one)

    def _bound(self, node: ast.AST) -> tuple[ast.expr, ...] | None:
        """The same for what one binding gives a name."""
        if isinstance(node, ast.arg):
            return self._parameter(node)
        parent = self._source.parents.get(node)
        match parent:
            case ast.Assign(targets=[target], value=value) if target is node:
                return self._whole(value)
            case ast.AugAssign(op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv(), value=value):
                return self._whole(value)
            case ast.For(iter=ast.Call(func=func)) if self._names.is_builtin(func, "range"):
                return ()
            case ast.Tuple(elts=targets):
                return self._unpacked(targets, parent, node)
        return None

    def _parameter(self, node: ast.arg) -> tuple[ast.expr, ...] | None:
        arguments = self._flow.context.function.node.args
        is_one = node not in (arguments.vararg, arguments.kwarg)
        if not is_one or node.annotation is None or not self._names.is_builtin(node.annotation, "int"):
            return None
        self._open = self._open or ast.copy_location(ast.Name(node.arg), node)
        return ()

    def _unpacked(self, targets: Sequence[ast.expr], target: ast.Tuple, node: ast.AST) -> tuple[ast.expr, ...] | None:
        if any(isinstance(one, ast.Starred) for one in targets):
            return None
        match self._source.parents.get(target):
            case ast.Assign(targets=[_], value=ast.Tuple(elts=values)) if len(values) == len(targets):
                return self._whole(next(value for one, value in zip(targets, values, strict=True) if one is node))
            case ast.Assign(targets=[_], value=value):
                owner = self._shape(value)
                return None if owner is None else (owner,)
            case ast.For(iter=ast.Call(func=func)) if self._names.is_builtin(func, "enumerate"):
                return () if targets[0] is node else None
        return None

    def _shape(self, node: ast.expr) -> ast.expr | None:
        """The object of which an expression is the shape, or a part of it."""
        match node:
            case ast.Attribute(value=owner, attr="shape"):
                return owner
            case ast.Call(func=ast.Attribute(value=owner, attr="size"), args=[], keywords=[]):
                return owner
            case ast.Subscript(value=shape, slice=ast.Slice()):
                return self._shape(shape)
            case ast.Name():
                values = self._values_of(node)
                owners = [self._shape(value) for value in values]
                return owners[0] if owners and None not in owners else None
        return None

    def _bindings(self, name: ast.Name) -> Sequence[Binding]:
        """The bindings of a name in the function that a use may see; none for a name of another scope."""
        scope, bindings = self._names.lookup(name.id, name)
        if scope is not self._flow.context.function.node or not self._flow.context.is_local(name.id):
            return []
        loops = [one for one in self._source.ancestors(name) if isinstance(one, ast.For | ast.AsyncFor | ast.While)]
        repeated = {part for loop in loops for part in ast.walk(loop)}
        end = self._source.span(name).end
        return [one for one in bindings if one.node in repeated or self._source.span(one.node).start < end]

    def _follow(self) -> bool:
        self._steps += 1
        return self._steps < _MOST_STEPS

    def _text(self, node: ast.expr) -> str:
        return shorten(" ".join(self._source.segment(node).split()))
