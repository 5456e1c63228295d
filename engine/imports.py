"""Adding the imports that new source needs."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterable, Iterator, Sequence

import libcst as cst

from gbfix.engine.edit_error import EditError

_TopLevel = cst.SimpleStatementLine | cst.BaseCompoundStatement


def with_imports(module: cst.Module, names: Iterable[str]) -> cst.Module:
    """The module with `import NAME` at top level for each of the names that it does not import so already.

    The new lines stand below the last absolute import of the first group of imports, or else below the docstring
    and the `from __future__` imports. Raises EditError when the file uses the name for something else.
    """
    code = module.code
    tree = ast.parse(code)
    missing = [name for name in dict.fromkeys(names) if not _is_imported(name, _run_on_import(tree.body))]
    for name in missing:
        _check_name_is_free(name, code, tree)
    return _inserted(module, missing) if missing else module


def _is_imported(name: str, nodes: Iterable[ast.AST]) -> bool:
    """True when one of the nodes is `import NAME`, or imports a submodule of it under its own name."""
    aliases = (alias for node in nodes if isinstance(node, ast.Import) for alias in node.names)
    return any(
        alias.name == name if alias.asname else f"{alias.name}.".startswith(f"{name}.")
        for alias in aliases
        if alias.asname in (None, name)
    )


def _run_on_import(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that surely run when the module is imported; what a `try` or `with` holds counts too."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.Try | ast.With):
            yield from _run_on_import(statement.body)


def _check_name_is_free(name: str, code: str, tree: ast.Module) -> None:
    top = name.split(".")[0]
    try:
        table = symtable.symtable(code, "<edited source>", "exec")
    except SyntaxError as error:
        raise EditError(f"the edited source does not compile: {error.msg}") from error
    symbol = table.lookup(top) if top in table.get_identifiers() else None
    is_bound = symbol is not None and (symbol.is_assigned() or symbol.is_imported())
    # An import under a condition, such as TYPE_CHECKING, binds the same thing and is no obstacle.
    if is_bound and not _is_imported(top, ast.walk(tree)):
        raise EditError(f"the edit needs `import {name}`, but the file uses the name {top} for something else")


def _inserted(module: cst.Module, names: Sequence[str]) -> cst.Module:
    body = list(module.body)
    place = _place(body)
    lines = [cst.parse_statement(f"import {name}") for name in names]
    if place > 0 and not _is_import(body[place - 1]):
        lines[0] = lines[0].with_changes(leading_lines=[_blank_line()])
    if place < len(body) and not _is_import(body[place]):
        body[place] = _set_apart(body[place])
    return module.with_changes(body=[*body[:place], *lines, *body[place:]])


def _place(body: Sequence[_TopLevel]) -> int:
    place = 0
    if body and _is_docstring(body[0]):
        place = 1
    while place < len(body) and _is_future_import(body[place]):
        place += 1
    first = next((index for index in range(place, len(body)) if _is_import(body[index])), None)
    if first is None:
        return place
    place = first
    for index in range(first, len(body)):
        if not _is_import(body[index]):
            break
        if not _is_relative(body[index]):
            place = index + 1
    return place


def _is_docstring(statement: _TopLevel) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    first = statement.body[0]
    return isinstance(first, cst.Expr) and isinstance(first.value, cst.SimpleString | cst.ConcatenatedString)


def _is_import(statement: _TopLevel) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and all(
        isinstance(small, cst.Import | cst.ImportFrom) for small in statement.body
    )


def _is_future_import(statement: _TopLevel) -> bool:
    return any(
        isinstance(source.module, cst.Name) and source.module.value == "__future__"
        for source in _from_imports(statement)
    )


def _is_relative(statement: _TopLevel) -> bool:
    return any(source.relative for source in _from_imports(statement))


def _from_imports(statement: _TopLevel) -> list[cst.ImportFrom]:
    if not isinstance(statement, cst.SimpleStatementLine):
        return []
    return [small for small in statement.body if isinstance(small, cst.ImportFrom)]


def _set_apart(statement: _TopLevel) -> _TopLevel:
    """The statement with a blank line above it and its comments, unless there is one."""
    lines = statement.leading_lines
    if lines and lines[0].comment is None:
        return statement
    return statement.with_changes(leading_lines=[_blank_line(), *lines])


def _blank_line() -> cst.EmptyLine:
    return cst.EmptyLine(indent=False)
