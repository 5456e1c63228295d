"""Finds what a branch scales in place, and what is known of the tensors that it scales."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import field

from gbfix.analysis.flow import Flow, State
from gbfix.analysis.names import Names
from gbfix.analysis.tree import stored_names
from gbfix.analysis.values import CONTIGUOUS, UNKNOWN, Category, Kind, Value
from gbfix.codemods._scaling_uses import changes_any, takes_from, uses_gradients
from gbfix.engine.dataclass import dataclass

_FOREACH = ("torch._foreach_mul_", "torch._foreach_div_")
_METHODS = ("mul_", "div_")
_REAL = (Category.FLOAT,)


@dataclass(frozen=True, eq=False)
class Scaling:
    """A tensor that is multiplied or divided in place. every: it is a list of tensors, each of which is."""

    node: ast.stmt
    tensor: ast.expr
    factor: ast.expr
    every: bool = False


@dataclass
class Side:
    """A side that does nothing but scale.

    assigned: the assignments of names that it needs for that. loops: what goes over the tensors. tests: what asks
    about one of them, as in `if p.grad is not None`.
    """

    scalings: list[Scaling] = field(default_factory=list)
    assigned: list[ast.Assign] = field(default_factory=list)
    loops: list[ast.For] = field(default_factory=list)
    tests: list[ast.If] = field(default_factory=list)


def scaling_side(names: Names, node: ast.If) -> Side | None:
    """What the body of a branch without `else` scales; None when it does something else."""
    side = Side()
    if node.orelse or not _read(names, node.body, side, inside=False) or not side.scalings:
        return None
    return side


def _read(names: Names, body: Sequence[ast.stmt], side: Side, *, inside: bool) -> bool:
    for statement in body:
        scaling = _scaling(names, statement)
        if scaling is not None:
            side.scalings.append(scaling)
            continue
        match statement:
            case ast.Assign(targets=[ast.Name()]) if not inside and not side.scalings:
                side.assigned.append(statement)
            case ast.For(target=ast.Name(), body=inner, orelse=[]):
                side.loops.append(statement)
                if not _read(names, inner, side, inside=True):
                    return False
            case ast.If(test=test, body=inner, orelse=[]) if inside and _asks_only(test):
                side.tests.append(statement)
                if not _read(names, inner, side, inside=True):
                    return False
            case ast.Pass():
                continue
            case _:
                return False
    return True


def _scaling(names: Names, statement: ast.stmt) -> Scaling | None:
    match statement:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=tensor, attr="mul_" | "div_"), args=[factor], keywords=[])
        ):
            return Scaling(statement, _handed_on(tensor), factor)
        case ast.Expr(value=ast.Call(func=func, args=[tensors, factor], keywords=[])):
            return Scaling(statement, tensors, factor, every=True) if names.qualified(func) in _FOREACH else None
        case ast.AugAssign(target=ast.Name() as target, op=ast.Mult() | ast.Div(), value=factor):
            return Scaling(statement, target, factor)
        case _:
            return None


def _handed_on(node: ast.expr) -> ast.expr:
    """The tensor whose memory `t.detach()` and `t.data` are."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="detach"), args=[], keywords=[]):
            return _handed_on(inner)
        case ast.Attribute(value=inner, attr="data"):
            return _handed_on(inner)
        case _:
            return node


def _asks_only(test: ast.expr) -> bool:
    """True for `x is not None`, `x.requires_grad` and the like, joined by `and` and `or`."""
    match test:
        case ast.BoolOp(values=parts):
            return all(_asks_only(part) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _asks_only(inner)
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return _is_path(left)
        case ast.Attribute(attr="requires_grad" | "is_leaf"):
            return _is_path(test)
        case _:
            return False


def _is_path(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


class Scaled:
    """What is known of a scaled tensor."""

    def __init__(self, flow: Flow, side: Side, scaling: Scaling, statement: ast.If) -> None:
        self._flow = flow
        self._side = side
        self._scaling = scaling
        self._statement = statement
        self._source = flow.context.source
        tensor = scaling.tensor
        self.is_gradient = isinstance(tensor, ast.Attribute) and tensor.attr == "grad"
        self._holder = tensor.value if isinstance(tensor, ast.Attribute) and self.is_gradient else tensor
        self.values = list(self._found())

    @property
    def text(self) -> str:
        """Its source."""
        return self._source.segment(self._scaling.tensor)

    def is_tensor(self) -> bool:
        """True when it is certainly a tensor; a gradient may also be missing."""
        return bool(self.values) and all(value.kind is Kind.TENSOR and not value.assumed for value in self.values)

    def is_dense(self) -> bool:
        """True when each element certainly has a place of its own, as those of a gradient have."""
        return self.is_gradient or (
            bool(self.values) and all(value.fresh or value.layout in (CONTIGUOUS, "scalar") for value in self.values)
        )

    def is_real(self) -> bool:
        """True when its elements are floating-point numbers, which a factor of one leaves as they are."""
        return self.is_tensor() and all(v.dtype is not None and v.dtype.category in _REAL for v in self.values)

    def carries_gradients(self, state: State) -> bool:
        """True when backward may go through it."""
        return not state.gradients_off and not (self.values and all(not value.sources for value in self.values))

    def _found(self) -> Iterator[Value]:
        """The facts of the tensor itself, of that whose gradient it is, or of each in the list that was seen."""
        state = self._flow.before.get(self._scaling.node)
        value = self._flow.evaluate(self._holder, state)[0] if state is not None else UNKNOWN
        if value.kind is Kind.TENSOR and not self._scaling.every:
            yield value
            return
        items = self._scaling.tensor if self._scaling.every else self.iterated()
        seen = self._flow.context.view.observed(self._statement.lineno)
        if items is None or seen is None:
            return
        path = f"{self._source.segment(items)}["
        for name in seen.names():
            if name.startswith(path) and "." not in name[len(path) :]:
                yield seen.value(name, None)

    def iterated(self) -> ast.expr | None:
        """What the loop goes over whose name holds the tensor."""
        for loop in self._side.loops:
            target = loop.target
            if isinstance(target, ast.Name) and isinstance(self._holder, ast.Name) and target.id == self._holder.id:
                return loop.iter
        return None

    def is_there(self) -> bool:
        """True when a gradient that is scaled is certainly not None: it is asked, or was used before."""
        if not self.is_gradient:
            return True
        inside = set(self._source.ancestors(self._scaling.node))
        text = ast.unparse(self._scaling.tensor)
        for test in self._side.tests:
            if test in inside and f"{text} is not None" in _conjuncts(test.test):
                return True
        if any(takes_from(one, text) for one in self._before()):
            return True
        items = self.iterated()
        return items is not None and any(uses_gradients(one, items) for one in self._before())

    def _before(self) -> Iterator[ast.stmt]:
        """The statements that certainly ran before the branch, up to one that may change what is iterated."""
        parent = self._source.parents[self._statement]
        blocks = (getattr(parent, "body", []), getattr(parent, "orelse", []))
        block = next((block for block in blocks if self._statement in block), [])
        items = self.iterated()
        names = {part.id for part in ast.walk(items) if isinstance(part, ast.Name)} if items is not None else set()
        for statement in reversed(block[: block.index(self._statement)] if block else []):
            if stored_names([statement]) & names or changes_any(statement, names):
                return
            yield statement


def _conjuncts(test: ast.expr) -> list[str]:
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return [ast.unparse(part) for part in parts]
