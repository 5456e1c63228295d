"""Python values that a compiled function is made for, and what to do about each kind of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gbfix.analysis.literals import shorten
from gbfix.analysis.project import FileView
from gbfix.analysis.recompiles import RecompileSeen
from gbfix.analysis.source import Function, FunctionNode
from gbfix.evidence.recompile_kinds import RECOMPILE_KINDS

KINDS = ("value", "identity", "length", "keys", "type")
"""The kinds of guards that are about a Python value."""
_INTEGER = re.compile(r"-?\d+")
_TEXT = re.compile(r"['\"]")
_SIZES = frozenset(
    {"view", "reshape", "expand", "repeat", "zeros", "ones", "full", "arange", "empty", "chunk", "split"}
)
_LIST_OF_TENSORS = (
    "stack the items into one tensor with a leading dimension, which can be dynamic, or keep the length the same"
)


def is_settled(row: RecompileSeen) -> bool:
    """True where nothing needs to be done: two values at most, or a number that the second compilation freed."""
    if row.limit_hit or row.kind not in ("value", "type") or row.count > 1:
        return False
    if row.kind == "type" or (row.values and set(row.values) <= {"True", "False", "None"}):
        return True
    seen = [
        call[row.source_name]
        for entry in row.entries
        if entry.defined == row.at
        for call in entry.arguments
        if row.source_name in call
    ]
    numbers = bool(seen) and all(spec.kind in ("int", "float") for spec in seen)
    return numbers and len({spec.value for spec in seen}) > 2


def readers(view: FileView, function: Function, row: RecompileSeen) -> list[ast.expr]:
    """Where the value is read: in the line that the run tells, maybe of a helper, else anywhere in the function."""
    owner = row.owner
    if owner is not None and owner.file == view.source.path:
        found = [node for node in _reads(view.source.tree, row.source_name) if node.lineno == owner.line]
        if found:
            return found
    return list(_reads(function.node, row.source_name))


def _reads(tree: ast.AST, text: str) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        is_read = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
        if is_read and isinstance(node, ast.expr) and ast.unparse(node) == text:
            yield node


def is_left_by_a_break(view: FileView, function: Function, row: RecompileSeen) -> bool:
    """True for a name that the function itself gives a value: only code after a graph break has a guard on it."""
    root = row.source_name.partition(".")[0].partition("[")[0]
    if not root.isidentifier() or root.startswith("___"):
        return root.startswith("___")
    if root in {parameter.arg for parameter in function.parameters} or isinstance(function.node, ast.Lambda):
        return False
    return root in view.names.local_bindings(function.node) and root not in view.names.declared_outer(function.node)


def advice_for(view: FileView, function: Function, row: RecompileSeen, uses: list[ast.expr]) -> str:
    """What to do, the most transparent way first."""
    name = row.source_name or "the value"
    is_owned = "." in name and "[" not in name
    match row.kind:
        case "length" if is_owned:
            return (
                f"{name} grows inside of the compiled function: return what is added and keep the list in the code "
                "that calls it, or write into a tensor of a fixed size that is made before"
            )
        case "length":
            return _LIST_OF_TENSORS
        case "keys":
            return RECOMPILE_KINDS["keys"].ways_out[0]
        case "type":
            return RECOMPILE_KINDS["type"].ways_out[0]
        case "identity":
            return _identity_advice(row)
        case _:
            return _value_advice(view, function, row, uses)


def _identity_advice(row: RecompileSeen) -> str:
    if "__code__" in row.guard:
        return "the function is made anew by text or by a factory: make it once, at module level or in __init__"
    return (
        "keep one object for all calls, or choose by it in the code that calls; a function, partial or module is made "
        "once, at module level or in __init__; each member of an enum is compiled once and kept"
    )


def _value_advice(view: FileView, function: Function, row: RecompileSeen, uses: list[ast.expr]) -> str:
    name = row.source_name
    if row.values and all(_TEXT.match(value) for value in row.values):
        return (
            f"each text is compiled for itself: choose by {name} in the code that calls, with one compiled function "
            "for each choice, or pass a number that is used in arithmetic"
        )
    if "__closure__" in name:
        return (
            "the function captures a value that changes: pass the value as an argument, as a tensor without dimensions"
        )
    if "." in name:
        return (
            f"hand {name} to the function as an argument: a number as plain argument is compiled twice at most; "
            "or hold it in a tensor, for a module in a buffer with persistent=False, which others then read as a tensor"
        )
    if name.isidentifier() and name not in {parameter.arg for parameter in function.parameters}:
        return (
            f"hand {name} to the function as an argument: a number as plain argument is compiled twice at most, a "
            "tensor without dimensions once"
        )
    held = [held_in(view, use) for use in uses]
    if "range" in held:
        return (
            "a loop over range() is unrolled and compiled for each number of rounds: compile the body of the loop "
            "instead, and keep the loop in the code that calls it"
        )
    if "size" in held:
        return (
            f"{name} decides about sizes: take it from the size of a tensor argument, which can be dynamic, or keep to "
            "a few values"
        )
    if "comparison" in held:
        return f"take the decision about {name} in the code that calls, with one compiled function for each outcome"
    return RECOMPILE_KINDS["value"].ways_out[0]


def held_in(view: FileView, use: ast.expr) -> str:
    """What a value is used for: "range", "size", "comparison", "index", or "" for anything else."""
    inner: ast.AST = use
    for around in view.source.ancestors(use):
        match around:
            case ast.Call() if inner is not around.func:
                called = around.func.attr if isinstance(around.func, ast.Attribute) else ""
                if view.names.is_builtin(around.func, "range"):
                    return "range"
                return "size" if called in _SIZES else ""
            case ast.Compare():
                return "comparison"
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if inner is test:
                return "comparison"
            case ast.stmt():
                return ""
            case _:
                inner = around
    return ""


def seen_text(row: RecompileSeen) -> str:
    """What a run saw: "n was 1, 2, 3: compiled 3 times"."""
    name = row.source_name or "the value"
    what = {"length": f"the length of {name}", "keys": f"the keys of {name}", "type": f"the type of {name}"}
    subject = what.get(row.kind, name)
    numbers = row.values if row.kind == "length" or not row.values else tuple(shorten(v, 20) for v in row.values)
    told = f"{subject} was {', '.join(numbers)}" if len(numbers) > 1 else f"{subject} changes"
    given_up = ", and PyTorch gave up on it" if row.limit_hit else ""
    return f"{told}: compiled {row.compiles} times{given_up}"


def rebound_globals(view: FileView) -> Iterator[tuple[ast.Name, str, int]]:
    """Reads, in compiled functions, of module-level numbers that a function steps: the read, the stepper and its line.

    Each name once. A step adds a constant to it or takes one off.
    """
    steppers: dict[str, tuple[str, int]] = {}
    for node, scope in view.names.nodes():
        match node:
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub(), value=ast.Constant(value=amount)):
                is_global = isinstance(scope, FunctionNode) and view.names.declared_outer(scope).get(name) == "global"
                if is_global and type(amount) is int and amount and _starts_as_number(view, name):
                    steppers.setdefault(name, (getattr(scope, "name", "a lambda"), node.lineno))
    for compiled in view.compiled:
        for node in ast.walk(compiled.function.node):
            if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or node.id not in steppers:
                continue
            if view.names.lookup(node.id, node)[0] is view.source.tree:
                stepper, line = steppers.pop(node.id)
                yield node, stepper, line


def _starts_as_number(view: FileView, name: str) -> bool:
    """True when all that the module's own block gives the name is integers."""
    given = [
        statement
        for statement in view.source.tree.body
        if isinstance(statement, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in statement.targets)
    ]
    return bool(given) and all(isinstance(s.value, ast.Constant) and type(s.value.value) is int for s in given)
