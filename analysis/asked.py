"""What Python does with a value besides computing it: asks whether it is true, goes through it, enters it.

Each of these fails for some values, which is a requirement of the expression like those of its operations.
https://docs.python.org/3/reference/datamodel.html
"""

from __future__ import annotations

import ast
import builtins
import re
from typing import TYPE_CHECKING

from gbfix.analysis.effects import Write
from gbfix.analysis.literals import shorten
from gbfix.analysis.values import Kind, Value

if TYPE_CHECKING:
    from gbfix.analysis.evaluate import Evaluation

_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.JoinedStr)
_CONTAINERS = ("ModuleList", "ModuleDict", "Sequential", "ParameterList", "ParameterDict")
_OF_NUMBERS = re.compile(r"[<>^]?[ +]?\d*(\.\d+)?[efg%]?")
"""Format specifications that every number takes."""


def asked(evaluation: Evaluation, node: ast.expr, parent: ast.AST | None) -> Value:
    """The facts about an expression of a statement, with what the statement asks of its value."""
    match parent:
        case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test) if test is node:
            return evaluation.truth(node)
        case ast.For(iter=iterable, target=target) | ast.AsyncFor(iter=iterable, target=target) if iterable is node:
            found = iterated(evaluation, node)
            if isinstance(target, ast.Tuple | ast.List) and not _gives_tuples(evaluation, node, len(target.elts)):
                _require_elements(evaluation, node, target, "each element of ")
            return found
        case ast.Assign(targets=targets, value=value) if value is node:
            found = evaluation.value(node)
            for target in targets:
                if isinstance(target, ast.Tuple | ast.List) and not _fits(target, node):
                    _require_elements(evaluation, node, target, "")
            return found
        case ast.withitem():
            found = evaluation.value(node)
            if not isinstance(node, ast.Call):
                text = f"what entering {shorten(evaluation.text(node))} does is not known"
                evaluation.impure(text, node, Write.ANYTHING)
            return found
        case _:
            return evaluation.value(node)


def iterated(evaluation: Evaluation, node: ast.expr) -> Value:
    """The facts about an expression that Python goes through."""
    found = evaluation.value(node)
    called = node.func if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
    known = (
        _is_container(node, found)
        or (found.kind is Kind.MODULE and (found.class_name or "").rpartition(".")[2] in _CONTAINERS)
        or (called is not None and evaluation.context.names.is_builtin(called, called.id))  # which asks itself
    )
    if not known:
        key = ("dimension", found.shape) if found.tensor_like else ("iterated", *evaluation.here(node))
        evaluation.require(key, f"{shorten(evaluation.text(node))} can be iterated over", node)
    return found


def hashed(evaluation: Evaluation, node: ast.expr) -> Value:
    """The facts about an expression that becomes a key, which fails for lists and the like."""
    found = evaluation.value(node)
    known = isinstance(node, ast.Constant | ast.JoinedStr) or found.kind in (Kind.NUMBER, Kind.TENSOR, Kind.MODULE)
    if not known and evaluation.context.names.qualified(node) is None:
        evaluation.require(("hashable", *evaluation.here(node)), f"{shorten(evaluation.text(node))} is hashable", node)
    return found


def formatted(evaluation: Evaluation, node: ast.FormattedValue) -> Value:
    """The facts about a value in an f-string; its specification has to fit it."""
    found = evaluation.value(node.value)
    if node.format_spec is None:
        return found
    spec = "".join(
        str(part.value) if isinstance(part, ast.Constant) else "{}"
        for part in (node.format_spec.values if isinstance(node.format_spec, ast.JoinedStr) else [])
    )
    evaluation.value(node.format_spec)
    is_number = found.kind is Kind.NUMBER or (found.kind is Kind.TENSOR and found.has_one_element)
    if not (is_number and node.conversion == -1 and _OF_NUMBERS.fullmatch(spec)):
        text = f"{shorten(evaluation.text(node.value))} fits its format"
        evaluation.require(("format", spec, *evaluation.here(node.value)), text, node)
    return found


def contained(evaluation: Evaluation, node: ast.Compare, left: Value, container: Value) -> None:
    """What `x in y` asks: y has to be a container, and its elements, or x, are compared."""
    right = node.comparators[0]
    compares = not left.tensor_like or left.has_one_element
    is_text = isinstance(right, ast.Constant) and not (
        isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
    )
    if not _is_container(right, container) or not compares or is_text:
        text = f"{shorten(evaluation.text(node))} does not raise"
        evaluation.require(("operands", *evaluation.here(node)), text, node)


def names_classes(evaluation: Evaluation, node: ast.expr) -> bool:
    """True for an expression that certainly names a class, or some, as `isinstance` needs them."""
    names = evaluation.context.names
    match node:
        case ast.Tuple(elts=parts):
            return all(names_classes(evaluation, part) for part in parts)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return names_classes(evaluation, left) and names_classes(evaluation, right)
        case ast.Name(id=name):
            if names.is_builtin(node, name):
                return isinstance(getattr(builtins, name, None), type)
            bindings = names.bindings(name, node)
            return bool(bindings) and all(
                isinstance(binding.node, ast.ClassDef) or binding.qualified is not None for binding in bindings
            )
        case ast.Attribute():
            return names.qualified(node) is not None
        case _:
            return False


def _is_container(node: ast.expr, found: Value) -> bool:
    return isinstance(node, _DISPLAYS) or (found.kind is Kind.OTHER and found.class_name not in ("None", "self"))


def _fits(target: ast.expr, node: ast.expr) -> bool:
    """True where a display gives each part of a target its element."""
    if not isinstance(target, ast.Tuple | ast.List):
        return not isinstance(target, ast.Starred)
    if not isinstance(node, ast.Tuple | ast.List) or len(node.elts) != len(target.elts):
        return False
    if any(isinstance(part, ast.Starred) for part in node.elts):
        return False
    return all(_fits(part, value) for part, value in zip(target.elts, node.elts, strict=True))


def _gives_tuples(evaluation: Evaluation, node: ast.expr, count: int) -> bool:
    """True for `enumerate(...)` and `zip(...)` that give tuples of so many elements."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return False
    if not evaluation.context.names.is_builtin(node.func, node.func.id):
        return False
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return False
    return (node.func.id, count) in (("enumerate", 2), ("zip", len(node.args)))


def _require_elements(evaluation: Evaluation, node: ast.expr, target: ast.Tuple | ast.List, whose: str) -> None:
    text = f"{whose}{shorten(evaluation.text(node))} has {len(target.elts)} elements"
    evaluation.require(("unpacked", len(target.elts), *evaluation.here(node)), text, node)
