"""Which lines of a file are worth observing: statements that decide on a value, and the entry of each function.

Read with `ast`, once per file. A rule that rewrites such a statement needs to know what its names hold when it runs.
"""

from __future__ import annotations

import ast
import re
import tokenize
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

MAX_ATTRIBUTES = 3
PARSED_AS = "<gbfix candidates>"

Function = ast.FunctionDef | ast.AsyncFunctionDef
Compound = (ast.If, ast.While, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.Match, ast.Try, ast.ClassDef)


@dataclass(frozen=True)
class Candidate:
    """A statement to observe. line: its first. names: those that it mentions. paths: dotted ones that it reads.

    What it mentions includes the bodies of a compound statement; where one of those leaves the function or the loop, it
    is everything in the function, since what follows then depends on the decision too.
    """

    line: int
    names: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class _File:
    candidates: dict[int, Candidate]
    statements: dict[int, Candidate]


_files: dict[str, _File] = {}


def candidate_lines(file: str) -> Mapping[int, Candidate]:
    """The candidates of a file by each line of their header, since the first instruction may be on a later line.

    Never raises: a file that cannot be read or parsed has none.
    """
    return _read(file).candidates


def add_candidate(file: str, line: int) -> Candidate | None:
    """Observe the statement at a line from now on, although nothing is decided there; None when there is none."""
    read = _read(file)
    statement = read.statements.get(line)
    if statement is not None:
        read.candidates.setdefault(line, statement)
        read.candidates.setdefault(statement.line, statement)
    return statement


def _read(file: str) -> _File:
    if file not in _files:
        try:
            _files[file] = _parse(file)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            _files[file] = _File({}, {})
    return _files[file]


def _parse(file: str) -> _File:
    if file.startswith("<"):
        return _File({}, {})
    with tokenize.open(file) as opened:
        text = opened.read()
    # Python warned of odd escapes when the program was compiled, and must not do so again. A filter that is put in by
    # hand leaves the version of the filters alone: `catch_warnings` makes warnings appear a second time.
    ignore: object = ("ignore", None, Warning, re.compile(re.escape(PARSED_AS)), 0)
    filters: list[object] = warnings.filters  # type: ignore[assignment]
    filters.insert(0, ignore)
    try:
        tree = ast.parse(text, PARSED_AS)
    finally:
        filters.remove(ignore)
    read = _File({}, {})
    _visit(tree.body, None, read)
    return read


def _visit(block: list[ast.stmt], function: Function | None, read: _File) -> None:
    for statement in block:
        header = list(_header(statement))
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            candidate = _candidate(statement, function)
            last = max((node.end_lineno or 0 for node in header), default=statement.lineno)
            lines = range(statement.lineno, max(last, statement.lineno) + 1)
            for line in lines:
                read.statements.setdefault(line, candidate)
            if _decides(statement, header) or _enters(statement, function):
                for line in lines:
                    read.candidates.setdefault(line, candidate)
        inner = statement if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) else function
        for nested in _blocks(statement):
            _visit(nested, inner, read)


def _header(statement: ast.stmt) -> Iterator[ast.expr | ast.stmt]:
    """What runs at the statement itself, without its bodies."""
    if isinstance(statement, (ast.If, ast.While)):
        yield statement.test
    elif isinstance(statement, (ast.For, ast.AsyncFor)):
        yield from (statement.target, statement.iter)
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        yield from (item.context_expr for item in statement.items)
    elif isinstance(statement, ast.Match):
        yield statement.subject
    elif not isinstance(statement, (ast.Try, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        yield statement


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        nested = getattr(statement, name, None)
        if isinstance(nested, list):
            yield nested
    for handler in getattr(statement, "handlers", []):
        yield handler.body
    for case in getattr(statement, "cases", []):
        yield case.body


def _decides(statement: ast.stmt, header: Sequence[ast.AST]) -> bool:
    if isinstance(statement, (ast.If, ast.While, ast.Assert, ast.Match)):
        return True
    return any(_is_decision(node) for part in header for node in ast.walk(part))


def _is_decision(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.Compare):
        return len(node.ops) > 1
    if isinstance(node, ast.comprehension):
        return bool(node.ifs)
    return isinstance(node, (ast.IfExp, ast.BoolOp))


def _enters(statement: ast.stmt, function: Function | None) -> bool:
    """Whether a statement is the first of its function; a docstring is none."""
    if function is None:
        return False
    first = function.body[1:2] if ast.get_docstring(function, clean=False) is not None else function.body[:1]
    return first == [statement]


def _candidate(statement: ast.stmt, function: Function | None) -> Candidate:
    scope: ast.AST = statement
    if function is not None and (_enters(statement, function) or _leaves(statement)):
        scope = function
    names = {node.id for node in ast.walk(scope) if isinstance(node, ast.Name)}
    paths = {path for node in ast.walk(scope) if isinstance(node, ast.Attribute) for path in _dotted(node)}
    return Candidate(statement.lineno, frozenset(names), tuple(sorted(paths)))


def _leaves(statement: ast.stmt) -> bool:
    exits = (ast.Return, ast.Raise, ast.Break, ast.Continue)
    return isinstance(statement, Compound) and any(isinstance(node, exits) for node in ast.walk(statement))


def _dotted(node: ast.Attribute) -> Iterator[str]:
    """The path of an attribute access that starts at a name, and nothing when it is deeper than three."""
    names = [node.attr]
    value = node.value
    while isinstance(value, ast.Attribute):
        names.append(value.attr)
        value = value.value
    if isinstance(value, ast.Name) and len(names) <= MAX_ATTRIBUTES and isinstance(node.ctx, ast.Load):
        yield ".".join([value.id, *reversed(names)])
