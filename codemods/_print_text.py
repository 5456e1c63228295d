"""The text that a print, or a write to standard output, puts out, in pieces."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gbfix.analysis.project import FileView
from gbfix.codemods._messages import Message, MessageKind
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._template import Piece, printed_pieces, text_pieces

AFTER = "say it when the compiled function has returned"
"""What a user can do about any message."""


def message_pieces(view: FileView, message: Message) -> list[Piece]:
    """The text of a message in pieces, without the line end that the in-graph print adds. Raises RefusedError."""
    line = message.call.lineno
    if message.starred:
        raise RefusedError("the arguments are known", "star arguments", line, "write the arguments out")
    if message.kind is MessageKind.WRITE:
        return _written(view, message)
    separator = _constant_option(message, "sep", " ")
    end = _constant_option(message, "end", "\n")
    _check_stream(view, message)
    found: list[Piece] = []
    for index, argument in enumerate(message.arguments):
        found += [separator] if index else []
        found += printed_pieces(view.names, argument)
    return _without_line_end([*found, end], line)


def _written(view: FileView, message: Message) -> list[Piece]:
    line, func = message.call.lineno, message.call.func
    if not _is_stdout(view, func.value if isinstance(func, ast.Attribute) else func):
        raise RefusedError(
            "it goes to standard output",
            "the in-graph print writes to sys.stdout only",
            line,
            AFTER.replace("print", "write"),
        )
    parent = view.source.parents.get(message.call)
    if not isinstance(parent, ast.Expr):
        raise RefusedError("its result is not used", "write() gives a number, the print does not", line, AFTER)
    pieces = text_pieces(view.names, message.text) if message.text is not None and not message.options else None
    if pieces is None or message.arguments:
        raise RefusedError("what is written is text", "write() takes nothing but text", line, "write an f-string")
    return _without_line_end(pieces, line)


def _without_line_end(pieces: Sequence[Piece], line: int) -> list[Piece]:
    last = pieces[-1] if pieces else ""
    if not isinstance(last, str) or not last.endswith("\n"):
        reason = "the in-graph print ends its text with a new line, which this text does not end with"
        raise RefusedError("the text ends with a new line", reason, line, "print whole lines")
    return [*pieces[:-1], last[:-1]]


def _constant_option(message: Message, name: str, default: str) -> str:
    option = message.option(name)
    match option:
        case None | ast.Constant(value=None):
            return default
        case ast.Constant(value=str(text)):
            return text
        case _:
            raise RefusedError(
                f"{name}= is constant", f"{ast.unparse(option)} is not", option.lineno, "write it as text"
            )


def _check_stream(view: FileView, message: Message) -> None:
    file, flush = message.option("file"), message.option("flush")
    if file is not None and not (isinstance(file, ast.Constant) and file.value is None) and not _is_stdout(view, file):
        reason = "the in-graph print writes to sys.stdout only"
        raise RefusedError("it goes to standard output", reason, file.lineno, AFTER)
    if flush is not None and not (isinstance(flush, ast.Constant) and not flush.value):
        advice = "leave flush= out (PYTHONUNBUFFERED=1 does the same for all output), or " + AFTER
        raise RefusedError("nothing waits for the text", "the in-graph print does not flush", flush.lineno, advice)


def _is_stdout(view: FileView, node: ast.expr) -> bool:
    """True for `sys.stdout` asked for here: a name that holds it keeps the stream that was there then."""
    return (
        isinstance(node, ast.Attribute)
        and view.names.qualified(node) == "sys.stdout"
        and view.names.qualified(node.value) == "sys"
    )
