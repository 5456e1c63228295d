"""Evaluates an expression to what is known of its value, collecting what running it does.

Used at one program point with the environment that holds there (see `gbfix.analysis.flow`).
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gbfix.analysis import values as v
from gbfix.analysis.asked import contained, formatted, hashed, iterated
from gbfix.analysis.effects import Effects, Note, Requirement, Write
from gbfix.analysis.fakes import tried_index, with_result
from gbfix.analysis.known_calls import evaluate_call
from gbfix.analysis.literals import is_constant_index, is_nonzero_constant, number_of, rank_change, shorten
from gbfix.analysis.operations import apply_operator
from gbfix.analysis.operators import (
    METADATA_ATTRIBUTES,
    OPERATORS,
    VIEW_ATTRIBUTES,
)
from gbfix.analysis.values import Kind, Value
from gbfix.engine.dataclass import dataclass

if TYPE_CHECKING:
    from gbfix.analysis.context import Context

Environment = Mapping[str, Value]

_BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
}
_COMPARISON = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
_NUMBER_CONSTANTS = {"torch.pi", "torch.inf", "torch.nan", "torch.e", "math.pi", "math.inf", "math.nan", "math.e"}


@dataclass
class Evaluation:
    """One evaluation: `value(node)` gives the facts, `effects` collects what running it does."""

    context: Context
    environment: Environment
    gradients_off: bool = False

    def __post_init__(self) -> None:
        self.effects = Effects()
        self._conditions = 0

    def value(self, node: ast.expr) -> Value:
        """The facts about the value of an expression; what running it does is added to `effects`."""
        match node:
            case ast.Constant(value=constant):
                return _constant(constant)
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return evaluate_call(self, node)
            case ast.BinOp():
                return self._pointwise(_BINARY.get(type(node.op), ""), [node.left, node.right], node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp(values=parts):
                first = self.truth(parts[0])
                others = [self.sometimes(part, is_asked=part is not parts[-1]) for part in parts[1:]]
                return self._join([first, *others], node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.truth(test)
                return self._join([self.sometimes(body), self.sometimes(orelse)], node)
            case ast.NamedExpr(target=target, value=inner):
                found = self.value(inner)
                self.effects.bound.append((target.id, found, self._conditions == 0))
                self.impure(f"{shorten(self.text(node))} binds a name", node)
                return replace(found, fresh=False)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self.value(part)
                return v.OTHER
            case ast.Set(elts=parts):
                for part in parts:
                    hashed(self, part)
                return v.OTHER
            case ast.Starred(value=inner):
                return iterated(self, inner)
            case ast.Slice(lower=lower, upper=upper, step=step):
                for bound in (lower, upper, step):
                    if bound is not None:
                        self.value(bound)
                return v.OTHER
            case ast.JoinedStr():
                return self._formatted(node)
            case ast.Lambda():
                return v.OTHER
            case ast.Dict(keys=keys, values=parts):
                for key in keys:
                    if key is not None:
                        hashed(self, key)
                for part in parts:
                    self.value(part)
                return v.OTHER
            case _:
                self.impure(f"{shorten(self.text(node))} is a form that gbfix does not follow", node, Write.ANYTHING)
                return self.opaque(node)

    def truth(self, node: ast.expr) -> Value:
        """The same for what Python then asks whether it is true, which fails for a tensor of several elements."""
        found = self.value(node)
        if found.tensor_like and not found.has_one_element:
            self.require(("truth", found.shape), f"{shorten(self.text(node))} is true or false", node)
        return found

    def text(self, node: ast.expr) -> str:
        """The source of a node, for messages and terms."""
        return self.context.source.segment(node)

    def opaque(self, node: ast.expr, kind: Kind = Kind.MAYBE) -> Value:
        """A value of which nothing is known but that this place computes it, not even how it was derived."""
        token = v.term("at", node.lineno, node.col_offset, node.end_col_offset, self.context.salt)
        hazard = v.Hazard(True, f"how {shorten(self.text(node))} is derived is not known", node.lineno)
        return replace(v.opaque_tensor(token, None, kind=kind), hazard=hazard)

    def _name(self, node: ast.Name) -> Value:
        known = self.environment.get(node.id)
        if self.context.depth == 0:
            self.effects.names.add(node.id)
        if known is not None:
            if known.hazard is not None and self.context.depth == 0:
                self.effects.upstream[node.id] = known
            return known
        if self.context.is_local(node.id):
            self.require(("bound", *self.here(node)), f"{node.id} has a value on every path to this line", node)
            return self.opaque(node)
        return self.context.outer_name(node)

    def _attribute(self, node: ast.Attribute) -> Value:
        qualified = self.context.names.qualified(node)
        if qualified is not None:
            return _library_constant(qualified)
        observed = self._observed_path(node)
        if observed is not None:
            return observed
        member = self.context.member(node)
        if member is not None:
            return member
        base = self.value(node.value)
        if base.class_name in ("finfo", "iinfo"):
            edge = node.attr if node.attr in ("max", "min") else ""
            kind = "float" if base.class_name == "finfo" else "int"
            return Value(Kind.NUMBER, number=kind, inside=base.inside, edge=edge)
        if base.tensor_like and node.attr in METADATA_ATTRIBUTES:
            if node.attr in ("ndim", "itemsize", "nbytes"):
                return v.number("int")
            if node.attr.startswith("is_") or node.attr == "requires_grad":
                return v.number("bool")
            return Value(Kind.OTHER, class_name=f"tensor.{node.attr}", assumed=base.assumed)
        if base.kind is Kind.TENSOR and node.attr in VIEW_ATTRIBUTES:
            if node.attr != "data":
                text = f"{self.text(node)} neither raises nor warns (two dimensions)"
                self.require(("attribute", node.attr, base.shape), text, node)
            shape = frozenset({v.term("attribute", node.attr, base.shape)})
            sources = frozenset[v.Term]() if node.attr == "data" else base.sources
            return replace(
                base, shape=shape, layout=v.term("attribute", node.attr, base.layout), fresh=False, sources=sources
            )
        if base.kind is Kind.OTHER and base.class_name not in (None, "self", "None"):
            return v.OTHER
        if not self.context.is_self(node.value) or not self.context.sets_in_init(node.attr):
            self.require(("attribute", *self.here(node)), f"{self.text(node)} exists", node)
        if self.context.defines(node.attr):
            self.impure(f"reading {self.text(node)} may run a method", node)
        token = v.term("attribute", self.text(node), self.context.generation(node))
        return v.opaque_tensor(token, None, kind=Kind.MAYBE)

    def _observed_path(self, node: ast.Attribute | ast.Subscript) -> Value | None:
        """What `self.scale` or `batch["x"]` held when a run was here."""
        if self.context.depth > 0 or not self.context.view.project.observed:
            return None
        return self.environment.get(ast.unparse(node))

    def _unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            inner = self.truth(node.operand)
            if inner.kind is Kind.TENSOR:
                self.reads_value(node)
            return Value(Kind.NUMBER, number="bool", scalar_of=inner if inner.kind is Kind.TENSOR else inner.scalar_of)
        name = {ast.USub: "neg", ast.UAdd: "positive", ast.Invert: "bitwise_not"}[type(node.op)]
        return self._pointwise(name, [node.operand], node)

    def _compare(self, node: ast.Compare) -> Value:
        operands = [node.left, *node.comparators]
        if all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            for operand in operands:
                self.value(operand)
            return v.number("bool")
        if len(node.ops) == 1 and type(node.ops[0]) in _COMPARISON:
            result = self._pointwise(_COMPARISON[type(node.ops[0])], operands, node)
            if result.kind is Kind.OTHER:
                return v.number("bool")
            return replace(result, number="bool") if result.kind is Kind.NUMBER else result
        found = [self.value(operands[0]), self.value(operands[1]), *(self.sometimes(part) for part in operands[2:])]
        if len(operands) == 2 and isinstance(node.ops[0], ast.In | ast.NotIn):
            contained(self, node, *found)
        elif any(value.kind is not Kind.NUMBER for value in found):
            self.require(("operands", *self.here(node)), f"{shorten(self.text(node))} does not raise", node)
        if len(operands) == 2 and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            return v.number("bool")  # `"key" in batch` is asked of no tensor, which would raise
        if any(value.tensor_like for value in found):
            self.reads_value(node)
            return Value(Kind.NUMBER, number="bool", scalar_of=next(value for value in found if value.tensor_like))
        return Value(Kind.NUMBER, number="bool", scalar_of=next((f.scalar_of for f in found if f.scalar_of), None))

    def _pointwise(self, name: str, operands: Sequence[ast.expr], node: ast.expr) -> Value:
        found = [self.value(operand) for operand in operands]
        operator = OPERATORS.get(name)
        if any(value.tensor_like for value in found) and operator is not None:
            return apply_operator(self, name, operator, operands, found, node)
        if all(value.kind is Kind.NUMBER for value in found):
            return self._arithmetic(name, operands, found, node)
        if not (name in ("eq", "ne") and all(value.kind in (Kind.OTHER, Kind.NUMBER) for value in found)):
            self.require(("operands", *self.here(node)), f"{shorten(self.text(node))} does not raise", node)
        return v.OTHER if all(value.kind in (Kind.OTHER, Kind.NUMBER) for value in found) else self.opaque(node)

    def _arithmetic(self, name: str, operands: Sequence[ast.expr], found: Sequence[Value], node: ast.expr) -> Value:
        if name in ("div", "floor_divide", "remainder", "pow", "") and not is_nonzero_constant(operands[-1]):
            self.require(("number divisor", *self.here(operands[-1])), f"{self.text(operands[-1])} is not zero", node)
        if name == "pow" and not all(number_of(operand) is not None for operand in operands):
            self.require(("number power", *self.here(node)), f"{self.text(node)} does not raise and is real", node)
        kinds = {value.number for value in found}
        scalar_of = next((value.scalar_of for value in found if value.scalar_of is not None), None)
        kind = "float" if "float" in kinds or name == "div" else "int" if kinds <= {"int", "bool"} else None
        inside = _still_inside(name, operands, found)
        return Value(Kind.NUMBER, number=kind, scalar_of=scalar_of, inside=inside)

    def _subscript(self, node: ast.Subscript) -> Value:
        observed = self._observed_path(node)
        if observed is not None:
            return observed
        base = self.value(node.value)
        self.value(node.slice)
        if base.kind is Kind.OTHER and base.class_name == "tensor.shape":
            self.require(("index", *self.here(node)), f"{self.text(node)} exists", node)
            return v.number("int") if not isinstance(node.slice, ast.Slice) else v.OTHER
        if not base.tensor_like:
            self.require(("index", *self.here(node)), f"{self.text(node)} exists", node)
            return v.opaque_tensor(
                v.term("subscript", self.text(node), self.context.generation(node)), None, kind=Kind.MAYBE
            )

        if base.kind is Kind.MAYBE or not is_constant_index(node.slice):
            self.require(("index", *self.here(node)), f"{self.text(node)} exists", node)
            return self.opaque(node, Kind.TENSOR if base.kind is Kind.TENSOR else Kind.MAYBE).assuming(base.assumed)
        text = self.text(node.slice)
        seen = tried_index(self, base, node.slice)
        if seen is None and not (isinstance(node.slice, ast.Constant) and node.slice.value in (None, ...)):
            self.require(("index", base.shape, text), f"{self.text(node)} is in range", node)
        result = replace(
            base,
            shape=frozenset({v.term("index", base.shape, text, rank_change(node.slice))}),
            layout=v.term("index", base.layout, text),
            one=False,
            fresh=False,
        )
        return with_result(result, "__getitem__", seen)

    def _formatted(self, node: ast.JoinedStr) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                inner = formatted(self, part)
                if inner.tensor_like:
                    self.impure(f"{shorten(self.text(node))} formats a value that may be a tensor", node)
        return v.OTHER

    def sometimes(self, node: ast.expr, *, is_asked: bool = False) -> Value:
        """The value of a part that may not run; `is_asked` for one that Python asks whether it is true."""
        self._conditions += 1
        found = self.truth(node) if is_asked else self.value(node)
        self._conditions -= 1
        return found

    def _join(self, found: Sequence[Value], node: ast.expr) -> Value:
        result = found[0]
        for other in found[1:]:
            result = v.join(result, other, v.term("choice", node.lineno, node.col_offset, self.context.salt))
        return replace(result, fresh=False)

    def here(self, node: ast.expr) -> tuple[Hashable, ...]:
        """A key for a condition on names, which holds only while they keep their values."""
        return (self.text(node), self.context.generation(node))

    def require(self, key: Hashable, text: str, node: ast.expr) -> None:
        """Collect a condition without which the expression raises."""
        self.effects.requirements.append(Requirement(key, text, node.lineno))
        if self._conditions == 0:
            self.effects.certain.add(key)

    def impure(self, reason: str, node: ast.expr, writes: Write | None = None) -> None:
        """Collect a reason why the expression does more than compute, and what it may write."""
        self.effects.impure.append(Note(reason, node.lineno))
        if writes is not None:
            self.effects.writes.append(writes)

    def reads_value(self, node: ast.expr) -> None:
        """Collect a read of a tensor's value by Python."""
        self.effects.reads.append(Note(f"{shorten(self.text(node))} reads a tensor's value", node.lineno))


def _still_inside(name: str, operands: Sequence[ast.expr], found: Sequence[Value]) -> v.Term:
    """The dtype term whose finite range still holds the result: `finfo(d).max - 1000`, `-limit`, `limit / 2`."""
    inside, edge = found[0].inside, found[0].edge
    if inside is None:
        return None
    if name in ("neg", "positive"):
        return inside
    constant = number_of(operands[-1])
    if constant is None or len(found) != 2:
        return None
    moves_in = (name == "sub" and edge == "max") or (name == "add" and edge == "min")
    if moves_in and 0 <= constant <= 65504:
        return inside
    if (name == "mul" and abs(constant) <= 1) or (name == "div" and abs(constant) >= 1):
        return inside
    return None


def _constant(constant: object) -> Value:
    if isinstance(constant, bool | int | float):
        return v.number(type(constant).__name__)
    return v.NONE if constant is None else v.OTHER


def _library_constant(qualified: str) -> Value:
    if qualified in _NUMBER_CONSTANTS:
        return v.number("float")
    return Value(Kind.OTHER, class_name=qualified)
