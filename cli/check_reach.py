"""Which functions a target can call, by the names that its source mentions, and which part of a change is in these.

A change of other functions is none of the target's business: it is left out, so that no condition is asked for that the
target never evaluates. Names are followed wherever they stand, whatever they are bound to, so that rather too much is
taken in than too little; what is called under a name that appears nowhere is another target.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from functools import cache

from gbfix.analysis.source import SourceFile, parse
from gbfix.engine.model import SourceError

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_IMPORT = re.compile(r"\s*(import\b|from\b|#|$)")
_ONLY_OF_ITS_CLASS = re.compile(r"forward|__\w+__")
"""Methods that are called without their name: those of a class count when the class is mentioned."""


def called_names(texts: Iterable[str], start: Iterable[str]) -> frozenset[str]:
    """All names that are mentioned by what has one of these names, and by what has one of those, and so on.

    texts: of the files that are looked at, both versions of what changes; one that does not parse mentions nothing.
    """
    mentions: dict[str, set[str]] = {}
    for text in set(texts):
        for name, mentioned in _definitions(text):
            mentions.setdefault(name, set()).update(mentioned)
    found: set[str] = set()
    waiting = set(start)
    while waiting:
        found |= waiting
        waiting = {name for each in waiting for name in mentions.get(each, ())} - found
    return frozenset(found)


def own_part(before: str, after: str, names: frozenset[str]) -> str:
    """The text `after`, but as `before` in the functions that none of the names leads to.

    Lines that stand outside of functions are those of `after`; when nothing but imports is left of the change, nothing
    is. A text that does not parse is taken as it is.
    """
    old_file, new_file = _parsed(before), _parsed(after)
    if old_file is None or new_file is None:
        return after
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    lines: list[str] = []
    touched = False
    for kind, first, end, new_first, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        around = {*_functions_at(old_file, first, end), *_functions_at(new_file, new_first, new_end)}
        if kind == "equal" or any(is_own(function, names) for function in around):
            lines += new[new_first:new_end]
            imports = around == {""} and all(map(_IMPORT.match, (*old[first:end], *new[new_first:new_end])))
            touched = touched or (kind != "equal" and not imports)
        else:
            lines += old[first:end]
    text = "".join(lines)
    if not touched:
        return before
    return after if _parsed(text) is None else text


def is_own(qualname: str, names: frozenset[str]) -> bool:
    """True when one of the names leads to the outermost function of a qualified name; "" is what is in no function."""
    *owners, name = qualname.partition(".<locals>")[0].split(".")
    if _ONLY_OF_ITS_CLASS.fullmatch(name):
        return bool(owners) and owners[-1] in names
    return not qualname or name in names


@cache
def _definitions(text: str) -> tuple[tuple[str, set[str]], ...]:
    file = _parsed(text)
    return () if file is None else tuple(_definitions_in(file))


def _definitions_in(file: SourceFile) -> Iterator[tuple[str, set[str]]]:
    """What each name of a file leads to: that of a function or class, or one that is bound outside of them."""
    for function in file.functions:
        mentioned = _mentioned(function.node) - _local(function.node)
        yield function.name, mentioned
        if function.owner is not None and _ONLY_OF_ITS_CLASS.fullmatch(function.name):
            yield function.owner.name, mentioned
    for statement in file.tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        mentioned = _mentioned(statement, into_functions=False)
        if isinstance(statement, ast.ClassDef):
            yield statement.name, mentioned
        for name in _bound(statement):
            yield name, mentioned


def _bound(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias) and node.asname:
            yield node.asname


def _mentioned(node: ast.AST, *, into_functions: bool = True) -> set[str]:
    """The names, attributes and texts that could be names; without `into_functions` not those in functions."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, ast.Name):
            found.add(current.id)
        elif isinstance(current, ast.Attribute):
            found.add(current.attr)
        elif isinstance(current, ast.alias):
            found |= set(current.name.split("."))
        elif isinstance(current, ast.Constant) and isinstance(current.value, str):
            found |= {current.value} if _IDENTIFIER.fullmatch(current.value) else set()
        if into_functions or not isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += ast.iter_child_nodes(current)
    return found


def _local(function: ast.AST) -> set[str]:
    """The names that a function binds itself, which are none of the file's; a name that is also an attribute counts."""
    bound, other = set(), set()
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.Attribute):
            other.add(node.attr)
        elif isinstance(node, ast.Global):
            other |= set(node.names)
    return bound - other


def _functions_at(file: SourceFile, first: int, end: int) -> set[str]:
    """The outermost functions around the lines from `first` to before `end` (0-based, not empty); "" outside of all."""
    found = set()
    for line in range(first + 1, end + 1):
        if file.lines[line - 1].strip():
            found.add(next((qualname for start, last, qualname in _outermost(file) if start <= line <= last), ""))
    return found


@cache
def _outermost(file: SourceFile) -> tuple[tuple[int, int, str], ...]:
    """The functions that stand in no other, with their lines, decorators included."""
    found = []
    for function in file.functions:
        if "<" not in function.qualname:
            span = file.span(function.node)
            found.append((span.line, span.end_line, function.qualname))
    return tuple(found)


@cache
def _parsed(text: str) -> SourceFile | None:
    try:
        return parse("", text)
    except SourceError:
        return None
