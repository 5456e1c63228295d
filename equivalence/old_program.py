"""The old version of a function as source that can stand in a test, inside a function of its own.

Kept word for word is what changed, and what reaches it on the way from the target; everything else is imported from the
module under test, or as the old file imported it.
"""

from __future__ import annotations

import ast
import builtins
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gbfix.equivalence.model import CheckError, Job
from gbfix.equivalence.python_text import import_lines, renamed
from gbfix.equivalence.top_level import Statement, TopLevel, read_top_level

INDENT = "    "


@dataclass(frozen=True)
class OldProgram:
    """imports: lines of the imports that the kept source needs. source: its lines, indented once.

    kept: the names that it defines. future: its annotations must not be evaluated.
    """

    imports: tuple[str, ...]
    source: tuple[str, ...]
    kept: tuple[str, ...]
    future: bool


def keep_old_program(job: Job, roots: Sequence[str]) -> OldProgram:
    """The old program of the first of `roots`, names at the top of the target's file, from which a change is reached.

    Raises CheckError, with the reason, for one that cannot stand alone.
    """
    old, new = _both(job)
    kept = next((kept for root in roots if (kept := _kept(old, new, root))), ())
    if not kept:
        raise CheckError(f"{_place(job)}: no test can be written: {roots[0]} does not reach by name what was changed")
    statements = [each for each in old.statements if set(each.binds) & set(kept)]
    for statement in statements:
        _require_movable(job, statement, old)
    names = sorted(frozenset().union(*(each.uses for each in statements)) - set(kept))
    return OldProgram(_imports(job, old, names), tuple(_source(old, statements)), kept, old.future)


def initialisers_differ(job: Job, names: Iterable[str]) -> bool:
    """True when a class among `names` is initialised in another way than before."""
    old, new = _both(job)
    return any(_initialiser(old, name) != _initialiser(new, name) for name in names)


def _both(job: Job) -> tuple[TopLevel, TopLevel]:
    differing = [file for file, text in job.original.items() if job.rewritten.get(file, text) != text]
    if not differing:
        raise CheckError(f"{job.target.name}: no test can be written: the two versions are the same text")
    if differing != [job.target.file]:
        others = ", ".join(sorted(file for file in differing if file != job.target.file))
        raise CheckError(f"{_place(job)}: no test can be written: the rewrite changes other files, too: {others}")
    return read_top_level(job.original[job.target.file]), read_top_level(job.rewritten[job.target.file])


def _place(job: Job) -> str:
    return f"{job.target.file}: {job.target.name}"


def _changed(old: TopLevel, new: TopLevel) -> tuple[str, ...]:
    """Imports apart: they are repeated as they were."""

    def text(version: TopLevel, name: str) -> list[str]:
        return [ast.dump(each.node) for each in version.bound.get(name, ())]

    return tuple(
        name
        for name, statements in old.bound.items()
        if text(old, name) != text(new, name) and not all(each.imports for each in statements)
    )


def _kept(old: TopLevel, new: TopLevel, root: str) -> tuple[str, ...]:
    """The changed definitions and those through which the root reaches them, in the order of the file."""
    changed = set(_changed(old, new))
    kept = {name for name in _reached(old, root) if _reached(old, name) & changed}
    return tuple(name for name in old.bound if name in kept)


def _reached(version: TopLevel, root: str) -> set[str]:
    reached: set[str] = set()
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name in version.bound and name not in reached:
            reached.add(name)
            waiting += version.uses(name)
    return reached


def _require_movable(job: Job, statement: Statement, old: TopLevel) -> None:
    """Raise CheckError for source that means something else inside of a function."""
    place = f"{job.target.file}:{statement.node.lineno}"
    name = statement.binds[0]
    if not statement.definition:
        raise CheckError(f"{place}: no test can be written: {name} is not simply defined at the top of the file")
    if statement.rebinds:
        raise CheckError(f"{place}: no test can be written: {name} sets a global, {min(statement.rebinds)}")
    for decorator in getattr(statement.node, "decorator_list", []):
        base = decorator.func if isinstance(decorator, ast.Call) else decorator
        while isinstance(base, ast.Attribute):
            base = base.value
        bound = old.bound.get(base.id, ()) if isinstance(base, ast.Name) else ()
        if any(isinstance(each.node, ast.Assign | ast.AnnAssign) for each in bound):
            text = ast.unparse(decorator)
            raise CheckError(
                f"{place}: no test can be written: @{text} belongs to an object that the new version uses, too"
            )


def _imports(job: Job, old: TopLevel, names: Iterable[str]) -> tuple[str, ...]:
    """Statements that bind the names: as the old file imported them, else from the module under test."""
    module, found, own = job.target.module, [], []
    rebound = frozenset().union(*(each.rebinds for each in old.statements))
    for name in names:
        statements = old.bound.get(name, ())
        if name in rebound:
            raise CheckError(f"{_place(job)}: no test can be written: {name} is set anew while the program runs")
        if statements and statements[-1].imports:
            found.append(_import(job, statements[-1].node, name))
        elif statements or (old.star_imports and not hasattr(builtins, name)):
            own.append(name)
        elif name == "__name__":
            found.append(f'__name__ = "{module}"')
        elif not hasattr(builtins, name) or name.startswith("__"):
            raise CheckError(f"{_place(job)}: no test can be written: nothing at the top of the file defines {name}")
    if own:
        found.append("\n".join(import_lines(module, own, len(INDENT))))
    found.sort(key=lambda text: (text.startswith("__name__"), text.startswith("from "), text))
    return tuple(line for text in found for line in text.split("\n"))


def _import(job: Job, node: ast.stmt, name: str) -> str:
    if isinstance(node, ast.Import):
        aliases = [alias for alias in node.names if (alias.asname or alias.name.partition(".")[0]) == name]
        return "import " + ", ".join(f"{each.name} as {each.asname}" if each.asname else each.name for each in aliases)
    assert isinstance(node, ast.ImportFrom)
    alias = next(alias for alias in node.names if (alias.asname or alias.name) == name)
    source = _absolute(job, node)
    return "\n".join(import_lines(source, [renamed(alias.name, alias.asname or alias.name)], len(INDENT)))


def _absolute(job: Job, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    is_package = job.target.file.endswith("__init__.py")
    parts = job.target.module.split(".")
    drop = node.level - 1 if is_package else node.level
    base = parts[: len(parts) - drop]
    if not base:
        raise CheckError(f"{job.target.file}:{node.lineno}: no test can be written: this import leaves its package")
    return ".".join([*base, *([node.module] if node.module else [])])


def _source(old: TopLevel, statements: Sequence[Statement]) -> list[str]:
    """The statements' lines, each indented unless it begins inside of a text."""
    fixed = _inside_texts(old)
    lines: list[str] = []
    for statement in statements:
        if lines:
            lines.append("")
        for number in range(statement.first_line, statement.last_line + 1):
            text = old.lines[number - 1]
            lines.append(text if number in fixed or not text.strip() else INDENT + text)
    return lines


def _inside_texts(old: TopLevel) -> set[int]:
    """The lines that begin inside of a text, whose spaces are part of it; a docstring's are not."""
    lines = iter([f"{line}\n" for line in old.lines])
    inside: set[int] = set()
    begun: list[int] = []
    for token in tokenize.generate_tokens(lambda: next(lines, "")):
        kind = tokenize.tok_name[token.type]
        if kind == "STRING":
            inside |= set(range(token.start[0] + 1, token.end[0] + 1))
        elif kind in ("FSTRING_START", "TSTRING_START"):
            begun.append(token.start[0])
        elif kind in ("FSTRING_END", "TSTRING_END"):
            inside |= set(range(begun.pop() + 1, token.end[0] + 1))
    return inside - _docstring_lines(old)


def _docstring_lines(old: TopLevel) -> set[int]:
    lines: set[int] = set()
    for statement in old.statements:
        for node in ast.walk(statement.node):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(node):
                first = node.body[0]
                lines |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def _initialiser(version: TopLevel, name: str) -> list[str]:
    nodes = [each.node for each in version.bound.get(name, ()) if isinstance(each.node, ast.ClassDef)]
    return [
        ast.dump(member)
        for node in nodes
        for member in node.body
        if isinstance(member, ast.FunctionDef) and member.name == "__init__"
    ]
