"""Making the edits of fixes in source text; everything outside the edits stays byte for byte.

Writing is done with LibCST, which keeps what it does not change, and gives new code the indentation and line ends of
the file. https://libcst.readthedocs.io
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import libcst as cst
from libcst.metadata import MetadataWrapper

from gbfix.engine.blocks import rebuilt_block, rebuilt_elif
from gbfix.engine.comments import LineHolder, comment_lines, comments_in, not_repeated
from gbfix.engine.deep import with_deep_stack
from gbfix.engine.edit_error import EditError
from gbfix.engine.expressions import replaced
from gbfix.engine.imports import with_imports
from gbfix.engine.locate import Block, ExpressionEdit, Located, locate
from gbfix.engine.model import Fix, SourceError, Span
from gbfix.engine.new_source import parse_expression

__all__ = ["EditError", "apply_fixes", "apply_one"]

_LINE = re.compile("[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_BLANK_END = re.compile(r"(?<=\n)[ \t\f\r\n]+\Z")


def apply_fixes(text: str, fixes: Sequence[Fix]) -> str:
    """The text with all replacements of all fixes made in one pass, and with the imports they need.

    Raises SourceError for a text that cannot be edited without changing other bytes, or is nested too deeply, and
    EditError when a replacement does not fit the text, two overlap, or the result would not be Python.
    """
    if not fixes:
        return text
    # LibCST loses spaces in the blank lines at the end of a file.
    blank_end = _BLANK_END.search(text)
    end = blank_end.start() if blank_end else len(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the user's own strings and comparisons
            return with_deep_stack(lambda: _apply(text[:end], fixes)) + text[end:]
    except (RecursionError, MemoryError) as error:
        raise SourceError("nested too deeply to be edited; exclude this file") from error
    except cst.CSTValidationError as error:
        raise EditError(f"the edit would not be valid Python: {error}") from error


def apply_one(text: str, fix: Fix) -> str:
    """The same as `apply_fixes(text, [fix])`, reading only the top-level statement that holds the fix.

    For showing many fixes of one file: LibCST takes its time for a long file. Raises what `apply_fixes` raises.
    """
    lines = _LINE.findall(text)
    around = next((r for r in _statements(text) if r[0] <= fix.span.line and fix.span.end_line <= r[1]), None)
    if fix.imports or around is None:
        return apply_fixes(text, [fix])
    first, last = around
    down = first - 1
    replacements = tuple(
        replace(r, span=Span(r.span.line - down, r.span.column, r.span.end_line - down, r.span.end_column))
        for r in fix.replacements
    )
    part = apply_fixes("".join(lines[down:last]), [replace(fix, replacements=replacements)])
    return "".join([*lines[:down], part, *lines[last:]])


@lru_cache(maxsize=2)
def _statements(text: str) -> tuple[tuple[int, int], ...]:
    """The first and last line of every top-level statement that shares no line with its neighbours."""
    found = []
    for node in ast.parse(text).body:
        decorators = getattr(node, "decorator_list", [])
        found.append((min([node.lineno, *(d.lineno for d in decorators)]), node.end_lineno or node.lineno))
    around = zip([(0, 0), *found], found, [*found[1:], (sys.maxsize, sys.maxsize)], strict=False)
    return tuple(one for before, one, after in around if before[1] < one[0] and one[1] < after[0])


def _apply(text: str, fixes: Sequence[Fix]) -> str:
    module = _parse(text)
    wrapper = MetadataWrapper(module, unsafe_skip_copy=True)  # a fresh tree, which nobody shares
    located = locate(wrapper, text, [replacement for fix in fixes for replacement in fix.replacements])
    edited = wrapper.module.visit(_Editor(located, module))
    _check_result(edited.code)
    finished = with_imports(edited, [name for fix in fixes for name in fix.imports]).code
    _check_result(finished)
    return finished


def _parse(text: str) -> cst.Module:
    try:
        module = cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise SourceError(f"line {error.raw_line}: cannot be parsed for editing: {error.message}") from error
    if module.code != text:
        kept = zip(text.split("\n"), module.code.split("\n"), strict=False)
        line = next((number for number, (before, after) in enumerate(kept, 1) if before != after), 1)
        raise SourceError(f"line {line}: has characters that an edit elsewhere in the file would not leave as they are")
    return module


def _check_result(code: str) -> None:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError) as error:
        raise EditError(f"the edit would not be valid Python: {error}") from error


class _Editor(cst.CSTTransformer):
    """Makes the edits from the inside outwards, each at the node it was located at."""

    def __init__(self, located: Located, module: cst.Module) -> None:
        super().__init__()
        self._located = located
        self._module = module
        self._comments: dict[cst.CSTNode, list[str]] = defaultdict(list)

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        if isinstance(original_node, cst.BaseExpression) and original_node in self._located.expressions:
            return self._replaced(original_node, self._located.expressions[original_node])
        node = updated_node
        if isinstance(original_node, Block) and original_node in self._located.blocks:
            assert isinstance(node, Block)  # an inner edit may change a block's kind, but only on leaving it
            node = rebuilt_block(node, self._located.blocks[original_node], self._module)
        if isinstance(original_node, cst.If) and original_node in self._located.elifs:
            assert isinstance(node, cst.If)
            node = rebuilt_elif(node, self._located.elifs[original_node], self._module)
        if original_node in self._comments:
            assert isinstance(node, LineHolder)  # locate() chose it so
            lines = comment_lines(self._comments[original_node])
            node = node.with_changes(leading_lines=(*node.leading_lines, *lines))
        return node

    def _replaced(self, old: cst.BaseExpression, edit: ExpressionEdit) -> cst.BaseExpression:
        new = parse_expression(edit.source, self._module)
        kept = len(old.lpar) - edit.place.own_parentheses
        own = old.with_changes(lpar=old.lpar[kept:], rpar=old.rpar[: edit.place.own_parentheses])
        self._comments[edit.line_holder].extend(not_repeated(comments_in([own]), comments_in([new])))
        return replaced(old, new, edit.place)
