"""Reads an expression that makes text as pieces: constant text, and the values that are formatted into it.

f-strings, `%`, `str.format`, `str()`, `repr()`, `format()`, `+`, and `join` of a display all come to the same pieces.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from gbfix.analysis.names import Names
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.dataclass import dataclass


@dataclass(frozen=True, eq=False)
class Slot:
    """A value that is formatted: conversion is "", "s", "r" or "a", spec a format specification in pieces.

    number: "" for a value of any kind; "real" where `%` asks for a number, "integer" where it makes an integer of it.
    in_text: stands in an f-string, inside which positions of nodes are not known.
    """

    node: ast.expr
    conversion: str = ""
    spec: tuple[Piece, ...] = ()
    number: str = ""
    in_text: bool = False


Piece: TypeAlias = "str | Slot"

CLAIM = "the text can be written as a format string"
ADVICE = "format with an f-string, constant format specifications and plain arguments"


def text_pieces(names: Names, node: ast.expr, *, in_text: bool = False) -> list[Piece] | None:
    """The pieces of an expression that certainly makes text, None for another. Raises RefusedError."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=parts):
            return _merged(piece for part in parts for piece in _f_string_part(names, part))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            both = [text_pieces(names, part, in_text=in_text) for part in (left, right)]
            return None if None in both else _merged(piece for part in both for piece in part or ())
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod(), right=right):
            return _percent(names, text, right, in_text)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            return _format_method(text, node, in_text)
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str(text)), attr="join"), args=[display], keywords=[]
        ):
            return _joined(names, text, display, in_text)
        case ast.Call(func=ast.Name(id="str" | "repr" | "ascii" | "format" as name), args=[value, *rest], keywords=[]):
            if isinstance(value, ast.Starred) or not names.is_builtin(node.func, name):
                return None
            return _converted(names, name, value, rest, in_text)
        case _:
            return None


def printed_pieces(names: Names, node: ast.expr) -> list[Piece]:
    """The pieces of what `print` writes for an argument. Raises RefusedError."""
    pieces = text_pieces(names, node)
    return [Slot(node, "s")] if pieces is None else pieces


def _converted(names: Names, name: str, value: ast.expr, rest: Sequence[ast.expr], in_text: bool) -> list[Piece] | None:
    if name == "format":
        match rest:
            case []:
                return [Slot(value, in_text=in_text)]
            case [ast.Constant(value=str(spec))]:
                return [Slot(value, spec=(spec,) if spec else (), in_text=in_text)]
            case _:
                return None
    if rest:
        return None
    pieces = text_pieces(names, value, in_text=in_text) if name == "str" else None
    return [Slot(value, name[0], in_text=in_text)] if pieces is None else pieces


def _joined(names: Names, separator: str, display: ast.expr, in_text: bool) -> list[Piece] | None:
    if not isinstance(display, ast.List | ast.Tuple):
        return None
    found: list[Piece] = []
    for index, part in enumerate(display.elts):
        pieces = text_pieces(names, part, in_text=in_text)
        if pieces is None:
            return None
        found += [separator, *pieces] if index else pieces
    return _merged(found)


def _f_string_part(names: Names, part: ast.expr) -> Iterator[Piece]:
    if isinstance(part, ast.Constant):
        yield str(part.value)
        return
    assert isinstance(part, ast.FormattedValue)
    conversion = "" if part.conversion == -1 else chr(part.conversion)
    spec = part.format_spec.values if isinstance(part.format_spec, ast.JoinedStr) else []
    pieces = tuple(_merged(piece for one in spec for piece in _f_string_part(names, one)))
    text = text_pieces(names, part.value, in_text=True) if conversion in ("", "s") and not pieces else None
    yield from [Slot(part.value, conversion, pieces, in_text=True)] if text is None else text


# -- %-formatting --------------------------------------------------------------------------------

_PERCENT = r"(?s)%(?P<name>\([^)]*\))?(?P<flags>[-#0 +]*)(?P<width>\d+)?(?:\.(?P<precision>\d*))?(?P<type>.)"


def _percent(names: Names, text: str, right: ast.expr, in_text: bool) -> list[Piece]:
    operands = list(right.elts) if isinstance(right, ast.Tuple) else [right]
    found: list[Piece] = []
    end = 0
    for match in re.finditer(_PERCENT, text):
        found.append(text[end : match.start()])
        end = match.end()
        if match["type"] == "%":
            found.append("%")
            continue
        if not operands or match["name"] is not None:
            raise _unclear(right, "the placeholders are not those of the values in order")
        found.append(_percent_slot(names, match, operands.pop(0), in_text))
    if operands or "%" in text[end:]:
        raise _unclear(right, "the placeholders are not those of the values in order")
    return _merged([*found, text[end:]])


def _percent_slot(names: Names, match: re.Match[str], operand: ast.expr, in_text: bool) -> Piece:
    flags, width, precision, kind = match["flags"], match["width"] or "", match["precision"], match["type"]
    if isinstance(operand, ast.Starred):
        raise _unclear(operand, "star arguments")
    limit = "" if precision is None else f".{precision or 0}"
    if kind in "sra":
        align = ("<" if "-" in flags else ">") if width else ""
        spec = f"{align}{width}{limit}"
        pieces = text_pieces(names, operand, in_text=in_text) if kind == "s" and not spec else None
        if pieces is not None and len(pieces) == 1 and isinstance(pieces[0], str):
            return pieces[0]
        return Slot(operand, kind, (spec,) if spec else (), in_text=in_text)
    if kind not in "diuoxXeEfFgG" or (kind in "diuoxX" and precision is not None):
        raise _unclear(operand, f"%{kind} has no counterpart with the same text")
    align = "<" if "-" in flags and width else ""
    sign = "+" if "+" in flags else " " if " " in flags else ""
    zero = "0" if "0" in flags and "-" not in flags and width else ""
    form = "#" if "#" in flags else ""
    letter = "d" if kind in "iu" else kind
    spec = f"{align}{sign}{form}{zero}{width}{limit}{letter}"
    return Slot(operand, "", (spec,), "integer" if letter in "doxX" else "real", in_text)


# -- str.format ----------------------------------------------------------------------------------


def _format_method(text: str, call: ast.Call, in_text: bool) -> list[Piece]:
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        raise _unclear(call, "star arguments")
    values: dict[str, ast.expr] = {str(index): value for index, value in enumerate(call.args)}
    values.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None})
    used: list[str] = []
    pieces = _merged(_fields(text, values, used, call, in_text))
    order = list(values)
    if sorted(used, key=order.index) != used or len(set(used)) != len(used) or set(used) != set(order):
        repeated = [values[name] for name in order if not isinstance(values[name], ast.Name | ast.Constant)]
        if repeated:
            raise _unclear(repeated[0], "the arguments are not used once each in their order")
    return pieces


def _fields(text: str, values: dict[str, ast.expr], used: list[str], call: ast.Call, in_text: bool) -> Iterator[Piece]:
    import string  # slow to load, and needed only for templates

    try:
        parsed = list(string.Formatter().parse(text))
    except ValueError as error:
        raise _unclear(call, f"the format string is not valid: {error}") from error
    for literal, name, spec, conversion in parsed:
        yield literal
        if name is None:
            continue
        key = name or str(sum(one.isdigit() for one in used))
        if key not in values:
            raise _unclear(call, f"the field {{{name}}} is not an argument by itself")
        used.append(key)
        inner = tuple(_merged(_fields(spec or "", values, used, call, in_text)))
        yield Slot(values[key], conversion or "", inner, in_text=in_text)


def _merged(pieces: Iterator[Piece] | Sequence[Piece]) -> list[Piece]:
    """The pieces with neighbouring constant text put together and empty text left out."""
    found: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, str) and found and isinstance(found[-1], str):
            found[-1] += piece
        elif piece != "":
            found.append(piece)
    return found


def _unclear(node: ast.expr, reason: str) -> RefusedError:
    return RefusedError(CLAIM, reason, node.lineno, ADVICE)
