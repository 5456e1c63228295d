"""Which expressions are loggers, by what they were defined as."""

from __future__ import annotations

import ast

from gbfix.analysis.project import FileView
from gbfix.codemods._definitions import Definition, definitions

LEVELS = {
    "debug": "debug",
    "info": "info",
    "warning": "warning",
    "warn": "warning",
    "error": "error",
    "exception": "error",
    "critical": "critical",
    "fatal": "critical",
}
"""The level at which each method of a logger, and each function of the logging module, reports."""

ONCE = frozenset({f"{name}_once" for name in (*LEVELS, "log", "rank_zero_info", "rank_zero_warn")} | {"warning_advice"})
"""Names under which libraries offer a report that comes out the first time only."""

_MAKERS = frozenset({"getLogger", "get_logger", "getChild", "getArtifactLogger"})
_CLASSES = frozenset({"logging.Logger", "logging.LoggerAdapter", "logging.RootLogger"})
_OBJECTS = frozenset({"logging.root", "logging.lastResort", "loguru.logger", "absl.logging"})


def is_logger(view: FileView, node: ast.expr, depth: int = 0) -> bool:
    """True for an expression that is certainly a logger, wherever it was made: module, class, `self`, another file."""
    if isinstance(node, ast.Call):
        return _makes_logger(view, node, depth)
    if isinstance(node, ast.Attribute) and node.attr in ("logger", "parent") and is_logger(view, node.value, depth + 1):
        return True
    if view.names.qualified(node) in _OBJECTS:
        return True
    found = definitions(view, node)
    return bool(found) and depth < 4 and all(_is_logger(one, depth) for one in found)


def _is_logger(definition: Definition, depth: int) -> bool:
    node = definition.node
    if node is None:
        # A logger of a library is imported under that name: what else would be.
        return definition.dotted in _OBJECTS or definition.dotted.rpartition(".")[2] in ("logger", "log", "LOGGER")
    if isinstance(node, ast.arg):
        return node.annotation is not None and _names_logger(definition.view, node.annotation)
    return isinstance(node, ast.expr) and is_logger(definition.view, node, depth + 1)


def _names_logger(view: FileView, annotation: ast.expr) -> bool:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value in _CLASSES
    return view.names.qualified(annotation) in _CLASSES


def _makes_logger(view: FileView, call: ast.Call, depth: int) -> bool:
    qualified = view.names.qualified(call.func)
    if qualified is not None:
        if qualified in _CLASSES or qualified.rpartition(".")[2] in _MAKERS:
            return True
    elif isinstance(call.func, ast.Attribute) and call.func.attr in _MAKERS:
        return is_logger(view, call.func.value, depth + 1)
    for definition in definitions(view, call.func) if depth < 4 else ():
        if isinstance(definition.node, ast.FunctionDef):
            returns = [node.value for node in ast.walk(definition.node) if isinstance(node, ast.Return) and node.value]
            if not returns or not all(is_logger(definition.view, value, depth + 1) for value in returns):
                return False
        else:
            return False
        return True
    return False


def is_level_guard(view: FileView, test: ast.expr) -> bool:
    """True for a condition that only asks which messages come out: `logger.isEnabledFor(...)`, `logger.level <= 10`."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return is_level_guard(view, inner)
        case ast.BoolOp(values=parts):
            return all(is_level_guard(view, part) for part in parts)
        case ast.Call(func=ast.Attribute(value=receiver, attr="isEnabledFor" | "getEffectiveLevel" | "hasHandlers")):
            return is_logger(view, receiver) or view.names.qualified(receiver) == "logging"
        case ast.Compare(left=left, comparators=[right]):
            return any(_is_level(view, side) for side in (left, right))
        case ast.Attribute(value=receiver, attr="disabled"):
            return is_logger(view, receiver)
        case _:
            return False


def _is_level(view: FileView, node: ast.expr) -> bool:
    match node:
        case ast.Attribute(value=receiver, attr="level"):
            return is_logger(view, receiver)
        case ast.Call(func=ast.Attribute(value=receiver, attr="getEffectiveLevel")):
            return is_logger(view, receiver)
        case _:
            return False
