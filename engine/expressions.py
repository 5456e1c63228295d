"""Putting a new expression where an old one stood, with parentheses where the grammar asks for them.

The levels are those of the table in "Operator precedence" of the Python language reference.
"""

from __future__ import annotations

import libcst as cst

from gbfix.engine.dataclass import dataclass

_LOWEST = 0
_LAMBDA = 1
_NUMBER = 16
_ATOM = 17

_OPERATOR_LEVELS: dict[type[cst.CSTNode], int] = {
    cst.Or: 3,
    cst.And: 4,
    cst.Not: 5,
    cst.BitOr: 7,
    cst.BitXor: 8,
    cst.BitAnd: 9,
    cst.LeftShift: 10,
    cst.RightShift: 10,
    cst.Add: 11,
    cst.Subtract: 11,
    cst.Multiply: 12,
    cst.MatrixMultiply: 12,
    cst.Divide: 12,
    cst.FloorDivide: 12,
    cst.Modulo: 12,
    cst.Plus: 13,
    cst.Minus: 13,
    cst.BitInvert: 13,
    cst.Power: 14,
}

_LEVELS: dict[type[cst.CSTNode], int] = {
    cst.Tuple: _LOWEST,
    cst.NamedExpr: _LOWEST,
    cst.Yield: _LOWEST,
    cst.Lambda: _LAMBDA,
    cst.IfExp: 2,
    cst.Comparison: 6,
    cst.Await: 15,
    cst.Integer: _NUMBER,
}

_TAKES: dict[type[cst.CSTNode], int] = {
    **dict.fromkeys((cst.AnnAssign, cst.Assert, cst.Assign, cst.AugAssign, cst.Expr, cst.Return), _LAMBDA),
    **dict.fromkeys((cst.DictElement, cst.Element, cst.If, cst.Index, cst.Param, cst.While), _LAMBDA),
    cst.IfExp: 3,
    cst.BooleanOperation: 5,
    cst.Comparison: 7,
    cst.ComparisonTarget: 7,
    cst.Attribute: _ATOM,  # `1.real` is not an attribute of 1
}
"""What every expression place directly under a node takes without parentheses, for the frequent nodes."""


@dataclass(frozen=True, eq=False)
class Place:
    """Where an expression stands: under which parent, and whether a letter or digit touches it on either side.

    So many pairs of the parentheses around the old expression as `own_parentheses` says belong to it and go with it.
    """

    parent: cst.CSTNode
    touches_word: bool
    own_parentheses: int


def replaced(old: cst.BaseExpression, new: cst.BaseExpression, place: Place) -> cst.BaseExpression:
    """The new expression for the place of the old one, in the parentheses that stay or that it needs."""
    kept = len(old.lpar) - place.own_parentheses
    if kept:
        left, right = old.lpar[:kept], old.rpar[place.own_parentheses :]
        return new.with_changes(lpar=(*left, *new.lpar), rpar=(*new.rpar, *right))
    if new.lpar or not (place.touches_word or _level(new) < _lowest_level_at(old, place)):
        return new
    return new.with_changes(lpar=(cst.LeftParen(),), rpar=(cst.RightParen(),))


def _lowest_level_at(old: cst.BaseExpression, place: Place) -> int:
    """A place takes what binds as tightly as the expression that stood there."""
    if isinstance(place.parent, cst.Arg):
        takes = _NUMBER if place.parent.star else _LAMBDA
    else:
        takes = _TAKES.get(type(place.parent), _NUMBER)
    return min(_level(old), takes)


def _level(node: cst.BaseExpression) -> int:
    if node.lpar:
        return _ATOM
    if isinstance(node, cst.BooleanOperation | cst.BinaryOperation | cst.UnaryOperation):
        return _OPERATOR_LEVELS[type(node.operator)]
    return _LEVELS.get(type(node), _ATOM)
