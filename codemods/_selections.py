"""Elements that a mask selects (`x[m]`), and element-wise expressions of them, computed for all elements instead."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from dataclasses import field

from gbfix.analysis.evaluate import Evaluation
from gbfix.analysis.flow import Flow, State
from gbfix.analysis.literals import is_text_of_infinity, number_of, shorten
from gbfix.analysis.names import Names
from gbfix.analysis.operators import CASTS, OPERATORS, Need, Shape
from gbfix.analysis.source import FunctionNode
from gbfix.analysis.values import Category, Kind, Value
from gbfix.codemods._named_selections import NamedValues
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.dataclass import dataclass

ELEMENTWISE_CLAIM = "what is done with the selected elements is done to each by itself"
ADVICE = (
    "compute with all elements and torch.where, or put the selection before or after the compiled function; "
    "torch._dynamo.config.capture_dynamic_output_shape_ops = True keeps it in the graph with an unknown size, "
    "for the whole process"
)

_MIXING = frozenset(
    [
        "softmax",
        "log_softmax",
        "softmin",
        "cumsum",
        "flip",
        "roll",
        "masked_fill",
        "isclose",
        "dropout",
        "alpha_dropout",
        "feature_dropout",
    ]
)
_OTHER_BITS = frozenset(
    {"sigmoid", "gelu", "silu", "softplus", "mish", "rsqrt", "erf", "selu", "celu", "logsigmoid", "tan"}
)
"""Operations that may give other bits for an element that lies elsewhere in memory (torch 2.13, CPU)."""

_OPERATIONS: Mapping[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "pow",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
}


@dataclass(frozen=True)
class Selection:
    """`base[mask]`; broadcasts: masked_select, which brings both to one shape first."""

    base: ast.expr
    mask: ast.expr
    broadcasts: bool = False


def selection_in(names: Names, node: ast.expr) -> Selection | None:
    """The selection that an expression spells, whatever its index is; None for another expression."""
    match node:
        case ast.Subscript(
            value=base, slice=ast.Name() | ast.Compare() | ast.BinOp() | ast.UnaryOp() | ast.Call() as mask
        ):
            return Selection(base, mask)
        case ast.Subscript(value=base, slice=ast.Subscript() | ast.Attribute() as mask):
            return Selection(base, mask)
        case ast.Call(func=func, args=[base, mask], keywords=[]) if names.qualified(func) == "torch.masked_select":
            return Selection(base, mask, broadcasts=True)
        case ast.Call(func=ast.Attribute(value=base, attr="masked_select") as func, args=[mask], keywords=[]) if (
            names.qualified(func) is None
        ):
            return Selection(base, mask, broadcasts=True)
        case _:
            return None


@dataclass
class DenseEvaluation(Evaluation):
    """An evaluation in which a selection stands for the tensor that it selects from."""

    selected: Mapping[ast.expr, Selection] = field(default_factory=dict)

    def value(self, node: ast.expr) -> Value:
        """The facts about an expression; see `Evaluation.value`."""
        selection = self.selected.get(node)
        return super().value(node if selection is None else selection.base)


@dataclass
class Dense:
    """An element-wise expression of selections by one mask, and what computing it for all elements means."""

    node: ast.expr
    mask: ast.expr
    selected: dict[ast.expr, Selection]
    value: Value
    evaluation: DenseEvaluation
    numbers: list[ast.expr]
    same_bits: bool


class SelectionReader:
    """Reads the selections of one function."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.names = flow.context.names
        self.source = flow.context.source
        self.named = NamedValues(flow)
        self.used: dict[ast.Name, ast.Assign] = {}

    def meaning(self, node: ast.expr) -> ast.expr:
        """The expression that a name stands for where it has one definition; any other expression is itself."""
        if not isinstance(node, ast.Name):
            return node
        statement = next((p for p in self.source.ancestors(node) if isinstance(p, ast.stmt)), None)
        definition = self.named.definition(node, statement)
        return node if definition is None else definition.value

    def use(self, node: ast.expr) -> None:
        """Note that a name was read for what it stands for; nothing for another expression."""
        meaning = self.meaning(node)
        if isinstance(node, ast.Name) and meaning is not node:
            statement = self.source.parents[meaning]
            assert isinstance(statement, ast.Assign)
            self.used[node] = statement

    def selection(self, node: ast.expr, state: State) -> Selection | None:
        """The selection by a mask that an expression is; None where the index is not known to be one."""
        found = selection_in(self.names, self.meaning(node))
        if found is None or self.flow.evaluate(found.base, state)[0].kind not in (Kind.TENSOR, Kind.MAYBE):
            return None
        if found.broadcasts:
            self.use(node)
            return found
        mask = self.flow.evaluate(found.mask, state)[0]
        if not mask.tensor_like or mask.dtype is None or mask.dtype.category is not Category.BOOL:
            return None
        self.use(node)
        return found

    def selections(self, node: ast.expr, state: State) -> dict[ast.expr, Selection]:
        """The selections within an expression, by node."""
        found: dict[ast.expr, Selection] = {}
        for part in parts_of(node):
            selection = self.selection(part, state)
            if selection is not None:
                found[part] = selection
        return found

    def dense(self, node: ast.expr, state: State, mask: ast.expr | None = None) -> Dense:
        """An expression of selections as one that is computed for all elements.

        Raises RefusedError when it is not element-wise, or when its selections have different masks.
        """
        selected = self.selections(node, state)
        masks = [selection.mask for selection in selected.values()]
        wanted = mask if mask is not None else masks[0]
        for other in masks:
            if ast.dump(other) != ast.dump(wanted):
                reason = f"{self._text(wanted)} and {self._text(other)} may select different numbers of elements"
                raise RefusedError("one mask selects", reason, other.lineno, ADVICE)
        evaluation = DenseEvaluation(self.flow.context, state.values, state.gradients_off, selected)
        dense = Dense(node, wanted, selected, evaluation.value(node), evaluation, [], same_bits=True)
        self._element_wise(node, dense, state)
        return dense

    def _element_wise(self, node: ast.expr, dense: Dense, state: State) -> None:
        """Check that an expression with selections computes each element by itself. Raises RefusedError."""
        if node in dense.selected:
            return
        if not any(part in dense.selected for part in parts_of(node)):
            self._number(node, dense, state)
            return
        match node:
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
                self._operation(_OPERATIONS[type(op)], [left, right], node, dense, state)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
                self._element_wise(operand, dense, state)
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE() | ast.Eq() | ast.NotEq()]):
                self._operation("gt", [left, node.comparators[0]], node, dense, state)
            case ast.Call(func=func, args=arguments, keywords=keywords):
                qualified = self.names.qualified(func)
                operands = [*arguments, *(keyword.value for keyword in keywords)]
                if qualified is None and isinstance(func, ast.Attribute):
                    self._operation(func.attr, [func.value, *operands], node, dense, state)
                elif qualified is not None and qualified.startswith("torch."):
                    self._operation(qualified.rpartition(".")[2], operands, node, dense, state)
                else:
                    raise self._mixes(node)
            case _:
                raise self._mixes(node)

    def _operation(self, name: str, operands: list[ast.expr], node: ast.expr, dense: Dense, state: State) -> None:
        operator = OPERATORS.get(name)
        known = operator is not None and operator.shape in (Shape.POINTWISE, Shape.LIKE) and not operator.random
        if name in _MIXING or not (known or name in CASTS or name == "to"):
            raise self._mixes(node)
        if operator is not None and Need.FITS in operator.needs and name == "pow" and number_of(operands[-1]) is None:
            raise self._mixes(node)
        dense.same_bits = dense.same_bits and name not in _OTHER_BITS
        for operand in operands:
            if (name not in CASTS and name != "to") or any(part in dense.selected for part in parts_of(operand)):
                self._element_wise(operand, dense, state)

    def _number(self, node: ast.expr, dense: Dense, state: State) -> None:
        """What meets the selected elements must be one number, or it would have to fit their number."""
        value = self.flow.evaluate(node, state)[0]
        if value.kind is Kind.NUMBER or value.is_scalar or number_of(node) is not None or is_text_of_infinity(node):
            return
        if value.kind is Kind.OTHER and isinstance(node, ast.Constant):
            return  # an option such as approximate="tanh"
        if value.kind is Kind.MAYBE:
            dense.numbers.append(node)
            return
        reason = f"{self._text(node)} may have as many elements as are selected"
        raise RefusedError("what meets the selected elements is one number", reason, node.lineno, ADVICE)

    def _mixes(self, node: ast.expr) -> RefusedError:
        reason = f"{self._text(node)} may use the other elements, or do something else than compute"
        return RefusedError(ELEMENTWISE_CLAIM, reason, node.lineno, ADVICE)

    def _text(self, node: ast.expr) -> str:
        return shorten(self.source.segment(node))


def parts_of(node: ast.expr) -> Iterator[ast.expr]:
    """An expression and those inside it, but for the insides of functions."""
    yield node
    if isinstance(node, FunctionNode):
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from parts_of(child)
        elif isinstance(child, ast.keyword):
            yield from parts_of(child.value)


def text_with(node: ast.expr, replaced: Mapping[ast.expr, ast.expr]) -> str:
    """The text of an expression with some of its parts replaced by others."""
    return ast.unparse(_rebuilt(node, replaced))


def _rebuilt(node: ast.AST, replaced: Mapping[ast.expr, ast.expr]) -> ast.AST:
    wanted = replaced.get(node) if isinstance(node, ast.expr) else None
    if wanted is not None:
        return wanted
    changed = copy.copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            setattr(changed, name, _rebuilt(value, replaced))
        elif isinstance(value, list):
            setattr(changed, name, [_rebuilt(v, replaced) if isinstance(v, ast.AST) else v for v in value])
    return changed
