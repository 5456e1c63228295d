"""Recognises what a program says: print, writes to the standard streams, logging, warnings, and their wrappers.

Everything is decided by what a name is bound to, never by how it is spelled.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum

from gbfix.analysis.operators import EVIDENCE_METHODS
from gbfix.analysis.project import FileView
from gbfix.analysis.source import FunctionNode
from gbfix.codemods._definitions import Definition, definitions
from gbfix.codemods._loggers import LEVELS, ONCE, is_logger
from gbfix.engine.dataclass import dataclass


class MessageKind(str, Enum):
    """What sort of statement says something."""

    PRINT = "print"
    WRITE = "write"
    LOGGING = "logging"
    WARNING = "warning"
    WRAPPER = "wrapper"


@dataclass(frozen=True, eq=False)
class Message:
    """One call that says something.

    level: that of a logging call ("debug" ... "critical"), None when it is not constant or there is none.
    text: the format string of a logging call, the message of a warning, what is written; None for print, whose
    arguments are all alike, and where it is not given. arguments: the others, in order; options: keyword arguments.
    starred: arguments come out of `*` or `**`, so that the others are not all.
    """

    kind: MessageKind
    call: ast.Call
    level: str | None
    text: ast.expr | None
    arguments: tuple[ast.expr, ...]
    options: tuple[tuple[str, ast.expr], ...]
    starred: bool

    def option(self, name: str) -> ast.expr | None:
        """A keyword argument, None when it is not given."""
        return next((value for keyword, value in self.options if keyword == name), None)


_WARNINGS = {"warnings.warn": "message", "warnings.warn_explicit": "message"}
_TEXT_KEYWORD = {MessageKind.LOGGING: "msg", MessageKind.WARNING: "message", MessageKind.WRITE: "s"}
_CACHES = frozenset({"functools.lru_cache", "functools.cache"})


def message_of(view: FileView, call: ast.expr) -> Message | None:
    """The message that an expression is, None when it is none."""
    if not isinstance(call, ast.Call):
        return None
    kind, level, skipped = _kind_of(view, call)
    if kind is None:
        return None
    positional = list(call.args[skipped:])
    options = [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None]
    starred = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
    text = None
    if kind is not MessageKind.PRINT:
        named = _TEXT_KEYWORD.get(kind, "")
        text = positional.pop(0) if positional else next((value for name, value in options if name == named), None)
        options = [(name, value) for name, value in options if value is not text]
    return Message(kind, call, level, text, tuple(positional), tuple(options), starred)


def message_in(view: FileView, statement: ast.stmt) -> Message | None:
    """The message that a whole statement is; None for other statements, also those that use its result."""
    return message_of(view, statement.value) if isinstance(statement, ast.Expr) else None


def _kind_of(view: FileView, call: ast.Call) -> tuple[MessageKind | None, str | None, int]:
    """The kind and level of a call, and how many arguments stand before the text."""
    names, func = view.names, call.func
    if names.is_builtin(func, "print"):
        return MessageKind.PRINT, None, 0
    qualified = names.qualified(func) if isinstance(func, ast.Name | ast.Attribute) else None
    if qualified is not None:
        found = _known_function(qualified)
        if found is not None:
            kind, level, skipped = found
            return kind, _given_level(view, call) if skipped and kind is MessageKind.LOGGING else level, skipped
    if isinstance(func, ast.Attribute) and func.attr in (*LEVELS, "log", *ONCE) and is_logger(view, func.value):
        if func.attr in ONCE:
            return MessageKind.WRAPPER, LEVELS.get(func.attr.removesuffix("_once")), 0
        if func.attr == "log":
            return MessageKind.LOGGING, _given_level(view, call), 1
        return MessageKind.LOGGING, LEVELS[func.attr], 0
    if isinstance(func, ast.Name | ast.Attribute) and _is_printing_alias(view, func):
        return MessageKind.PRINT, None, 0
    if any(_says_once(definition) for definition in definitions(view, func)):
        return MessageKind.WRAPPER, None, 0
    return None, None, 0


def _known_function(qualified: str) -> tuple[MessageKind, str | None, int] | None:
    module, _, name = qualified.rpartition(".")
    if qualified == "builtins.print":
        return MessageKind.PRINT, None, 0
    if name == "write" and module in ("sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__"):
        return MessageKind.WRITE, None, 0
    if qualified in _WARNINGS:
        return MessageKind.WARNING, None, 0
    if module in ("logging", "logging.root", "absl.logging", "loguru.logger"):
        if name in LEVELS:
            return MessageKind.LOGGING, LEVELS[name], 0
        if name == "log":
            return MessageKind.LOGGING, None, 1
    if name in ONCE or name in ("warn_once", "log_once"):
        first_is_logger = module in ("torch._logging", "torch._logging._internal")
        return MessageKind.WRAPPER, LEVELS.get(name.removesuffix("_once")), int(first_is_logger)
    return None


def _is_printing_alias(view: FileView, func: ast.expr) -> bool:
    """True for a name that was assigned the builtin print."""
    found = definitions(view, func)
    return bool(found) and all(
        isinstance(one.node, ast.Name) and one.view.names.is_builtin(one.node, "print") for one in found
    )


def _given_level(view: FileView, call: ast.Call) -> str | None:
    """The level that `log(level, ...)` is given, where it is a constant of logging or its number."""
    if not call.args:
        return None
    level = call.args[0]
    qualified = view.names.qualified(level) if isinstance(level, ast.Name | ast.Attribute) else None
    if qualified is not None and qualified.startswith("logging."):
        return LEVELS.get(qualified.rpartition(".")[2].lower())
    numbers = {10: "debug", 20: "info", 30: "warning", 40: "error", 50: "critical"}
    return numbers.get(level.value) if isinstance(level, ast.Constant) and isinstance(level.value, int) else None


def _says_once(definition: Definition) -> bool:
    """True for a function of the given files that a cache keeps from saying the same twice."""
    node = definition.node
    if not isinstance(node, ast.FunctionDef):
        return False
    decorators = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    cached = any(definition.view.names.qualified(one) in _CACHES for one in decorators)
    return cached and any(message_in(definition.view, part) for part in ast.walk(node) if isinstance(part, ast.stmt))


# -- whether something is said at all -----------------------------------------------------------


_QUIET_LIBRARIES = frozenset(
    {"torch", "math", "cmath", "numpy", "functools", "itertools", "operator", "collections", "copy", "typing"}
    | {"dataclasses", "enum", "random", "time", "contextlib", "einops", "os", "types", "abc", "re", "string"}
)
_LOUD = frozenset({"print", "input", "exec", "eval", "breakpoint", "help", "__import__"})
_QUIET_METHODS = EVIDENCE_METHODS | frozenset(
    {"append", "extend", "insert", "pop", "popleft", "appendleft", "clear", "update", "setdefault", "get", "keys"}
    | {"values", "items", "add", "discard", "remove", "index", "count", "sort", "reverse", "join", "format", "split"}
    | {
        "strip",
        "startswith",
        "endswith",
        "lower",
        "upper",
        "replace",
        "view",
        "t",
        "select",
        "repeat",
        "where",
        "stack",
    }
)


def says_something(view: FileView, node: ast.AST, seen: frozenset[ast.AST] = frozenset()) -> bool:
    """Whether running a statement or expression may print, log or warn: itself, or in functions that it calls.

    A may-answer: what a call does that cannot be followed counts as saying something.
    """
    return any(_call_says(view, call, seen) for call in _calls_in(node))


def _calls_in(node: ast.AST) -> Iterator[ast.Call]:
    """The calls that running a node may make; what a def or class inside it would do is left to its callers."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        parts: list[ast.AST] = [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]
    else:
        parts = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Call):
        yield node
    for part in parts:
        yield from _calls_in(part)


def _call_says(view: FileView, call: ast.Call, seen: frozenset[ast.AST]) -> bool:
    func = call.func
    if message_of(view, call) is not None:
        return True
    if isinstance(func, ast.Name) and view.names.is_builtin(func, func.id):
        return func.id in _LOUD
    found = definitions(view, func)
    if found:
        return any(_definition_says(one, seen) for one in found)
    if isinstance(func, ast.Attribute):
        methods = _methods(view, func.attr)
        if methods:
            return any(_body_says(where, node, seen) for where, node in methods)
        return func.attr not in _QUIET_METHODS and not isinstance(func.value, ast.Constant)
    return True


def _definition_says(definition: Definition, seen: frozenset[ast.AST]) -> bool:
    node, view = definition.node, definition.view
    if node is None:
        return definition.dotted.partition(".")[0] not in _QUIET_LIBRARIES or "print" in definition.dotted
    if isinstance(node, FunctionNode):
        return _body_says(view, node, seen)
    if isinstance(node, ast.ClassDef):
        made = [
            f.node for f in view.source.functions if f.owner is node and f.name in ("__init__", "__new__", "forward")
        ]
        return any(_body_says(view, one, seen) for one in made)
    if isinstance(node, ast.Call):  # an object that was made once: calling it runs what its class defines
        if node in seen:  # made by calling what it is called itself
            return True
        made_by = definitions(view, node.func)
        return not made_by or any(_definition_says(one, seen | {node}) for one in made_by)
    return True


def _body_says(view: FileView, node: FunctionNode, seen: frozenset[ast.AST]) -> bool:
    if node in seen:
        return False
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    return any(says_something(view, part, seen | {node}) for part in body)


def _methods(view: FileView, name: str) -> list[tuple[FileView, FunctionNode]]:
    """The methods of this name in the file, whoever the receiver is."""
    return [(view, function.node) for function in view.source.functions if function.owner and function.name == name]
