"""Measuring which outcomes of the conditions are reached that a rewrite touches.

The original is compiled with each such test wrapped in a call that notes its outcome and gives it on, and with such a
call before each changed statement that no condition controls. The test is evaluated once, names and line numbers stay
as they are, and what it raises passes through.
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

import torch

from gbfix.equivalence.changed_statements import changed_places
from gbfix.equivalence.conditions import condition_of, is_constant
from gbfix.equivalence.model import BranchTaken, Condition

__all__ = ["changed_places", "compiler", "instrument", "start", "taken"]

MOST = 10_000
"""How many evaluations of one call are kept."""

_TEST, _COMPARISON, _OPERAND, _UNWRAP = (f"__gbfix_{name}__" for name in ("test", "comparison", "operand", "unwrap"))
"""Names in `builtins`, where the code finds them without a name in its own globals. Not mangled in a class."""

_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_BY_NAME = {function.__name__: function for function in _COMPARISONS.values()}

_taken: list[BranchTaken] = []


def start() -> None:
    """A call begins: forget what was noted."""
    _taken.clear()


def taken() -> tuple[BranchTaken, ...]:
    """What was noted since the start, in order, at most `MOST`."""
    return tuple(_taken)


def compiler(conditions: Sequence[Condition], first: int = 0) -> Callable[[str, str], CodeType]:
    """Compiles the text of a file so that the conditions are noted, with indices from `first` on."""

    def compile_text(text: str, path: str) -> CodeType:
        tree = instrument(ast.parse(text, path), text, conditions, first)
        code: CodeType = compile(tree, path, "exec", dont_inherit=True)
        return code

    return compile_text


def instrument(tree: ast.Module, source: str, conditions: Sequence[Condition], first: int = 0) -> ast.Module:
    """The tree with the conditions noted: each by its place in `conditions`, counted from `first`. Changes the tree."""
    for name, function in ((_TEST, _test), (_COMPARISON, _comparison), (_OPERAND, _operand), (_UNWRAP, _unwrap)):
        setattr(builtins, name, function)
    places = {(each.line, each.column, each.text): first + number for number, each in enumerate(conditions)}
    changed: ast.Module = ast.fix_missing_locations(_Instrument(source, places).visit(tree))
    return changed


class _Instrument(ast.NodeTransformer):
    def __init__(self, source: str, places: dict[tuple[int, int, str], int]) -> None:
        self._source = source
        self._places = places
        self._lines = {line for line, _, _ in places}

    def visit(self, node: ast.AST) -> Any:  # noqa: ANN401
        """A changed statement gets a note before it."""
        index = self._index(node) if isinstance(node, ast.stmt) else None
        changed = super().visit(node)
        if index is None:
            return changed
        note = ast.Expr(_call(_TEST, ast.Constant(index), ast.Constant(False), ast.Constant(True)))
        return [ast.copy_location(note, node), changed]

    def visit_If(self, node: ast.If) -> ast.AST:
        return self._with_test(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._with_test(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return self._with_test(node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return self._with_test(node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        tests, node.ifs = node.ifs, []
        self.generic_visit(node)
        node.ifs = [self._condition(test) for test in tests]
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        guard, node.guard = node.guard, None
        self.generic_visit(node)
        node.guard = None if guard is None else self._condition(guard)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """As a value: an operand is the result when it decides, so that it is carried with its truth."""
        indices = [self._index(operand) for operand in node.values[:-1]]
        self.generic_visit(node)
        if all(index is None for index in indices):
            return node
        for position, index in enumerate(indices):
            if index is not None:
                operand = _with_its_truth(node.values[position])
                node.values[position] = _call(_OPERAND, ast.Constant(index), operand)
        return ast.copy_location(_call(_UNWRAP, node), node)

    def _with_test(self, node: Any) -> ast.AST:  # noqa: ANN401
        test, node.test = node.test, ast.Constant(True)
        self.generic_visit(node)
        node.test = self._condition(test)
        return node  # type: ignore[no-any-return]

    def _condition(self, test: ast.expr) -> ast.expr:
        """A test of which only the truth is used."""
        index, inner, is_negated = self._index(test), test, False
        negation: ast.UnaryOp | None = None
        while isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
            negation, inner, is_negated = inner, inner.operand, not is_negated
        if isinstance(inner, ast.BoolOp):
            inner.values = [self._condition(operand) for operand in inner.values]
        else:
            inner = self.visit(inner)
        if index is not None:
            return self._noted(index, is_negated, inner, test)
        if negation is None:
            return inner
        negation.operand = inner
        return test

    def _noted(self, index: int, is_negated: bool, changed: ast.expr, test: ast.expr) -> ast.expr:
        place = [ast.Constant(index), ast.Constant(is_negated)]
        if isinstance(changed, ast.Compare) and len(changed.ops) == 1 and type(changed.ops[0]) in _COMPARISONS:
            name = _COMPARISONS[type(changed.ops[0])].__name__
            call = _call(_COMPARISON, *place, ast.Constant(name), changed.left, changed.comparators[0])
        else:
            call = _call(_TEST, *place, changed)
        return ast.copy_location(call, test)

    def _index(self, node: ast.expr | ast.stmt) -> int | None:
        if (isinstance(node, ast.expr) and is_constant(node)) or node.lineno not in self._lines:
            return None
        found = condition_of(node, self._source, "")
        return self._places.get((found.line, found.column, found.text))


def _with_its_truth(operand: ast.expr) -> ast.expr:
    """An operand that itself is of `and` or `or` may bring the truth of what decided it."""
    is_unwrapped = isinstance(operand, ast.Call) and isinstance(operand.func, ast.Name) and operand.func.id == _UNWRAP
    return operand.args[0] if is_unwrapped else operand  # type: ignore[attr-defined]


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    function = ast.Name(name, ast.Load())
    at = arguments[-1]
    return ast.copy_location(ast.Call(ast.copy_location(function, at), list(arguments), []), at)


# -- called by the instrumented code -------------------------------------------------------------


def _test(index: int, is_negated: bool, value: Any) -> Any:  # noqa: ANN401
    if torch.compiler.is_compiling():
        return not value if is_negated else value
    outcome = bool(value) is not is_negated
    _note(index, outcome, None)
    return outcome


def _comparison(index: int, is_negated: bool, name: str, left: Any, right: Any) -> Any:  # noqa: ANN401
    value = _BY_NAME[name](left, right)
    if torch.compiler.is_compiling():
        return not value if is_negated else value
    outcome = bool(value) is not is_negated
    _note(index, outcome, _distance(left, right))
    return outcome


class _Operand:
    """The value of an operand, with its truth, which is asked for only once."""

    def __init__(self, value: Any, outcome: bool) -> None:  # noqa: ANN401
        self.value = value
        self.outcome = outcome

    def __bool__(self) -> bool:
        return self.outcome


def _operand(index: int, value: Any) -> Any:  # noqa: ANN401
    if torch.compiler.is_compiling():
        return value
    outcome = bool(value)
    _note(index, outcome, None)
    return _Operand(value, outcome)


def _unwrap(value: Any) -> Any:  # noqa: ANN401
    return value.value if isinstance(value, _Operand) else value


def _note(index: int, outcome: bool, distance: float | None) -> None:
    if len(_taken) < MOST:
        _taken.append(BranchTaken(index, outcome, distance))


def _distance(left: Any, right: Any) -> float | None:  # noqa: ANN401
    """|left - right| of two single numbers, None where there is no such finite number."""
    try:
        numbers = [_number(left), _number(right)]
        if numbers[0] is None or numbers[1] is None:
            return None
        distance = abs(numbers[0] - numbers[1])
    except Exception:  # such as a tensor without a value, or an integer that no float can hold
        return None
    return distance if math.isfinite(distance) else None


def _number(value: Any) -> float | None:  # noqa: ANN401
    if type(value) in (bool, int, float):
        return float(value)
    if type(value) in (torch.Tensor, torch.nn.Parameter) and value.numel() == 1 and not value.is_complex():
        return float(value.detach())
    return None
