"""New names in the scope of a statement: which are free, and where nobody would see one."""

from __future__ import annotations

import ast

from gbfix.analysis.names import Scope
from gbfix.analysis.project import FileView
from gbfix.codemods._always import ADVICE
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._tree import all_names

_READING_GLOBALS = ("globals", "eval", "exec")
_READING_NAMES = ("locals", "vars", "dir", *_READING_GLOBALS)


def names_taken(view: FileView, statement: ast.stmt) -> set[str]:
    """The names that a new one in the scope of a statement must differ from."""
    names = view.names
    scope = names.scope_of(statement)

    def means_something(name: str) -> bool:
        return bool(names.bindings(name, statement)) or any(
            names.lookup(name, use)[0] is scope for use in names.loads.get(name, ())
        )

    outer = names.declared_outer(scope)
    return {name for name in all_names(view.source.tree) if name in outer or means_something(name)}


def word_for(view: FileView, statement: ast.stmt, word: str) -> str:
    """A name for a new value; one that nobody can import from the file where that would be possible."""
    is_top_level = view.source.parents[statement] is view.source.tree
    return f"_{word}" if is_top_level else word


def check_new_name(view: FileView, statement: ast.stmt) -> None:
    """Raise RefusedError where a new name would be seen."""
    scope = view.names.scope_of(statement)
    if isinstance(scope, ast.ClassDef):
        reason = "a new name in the body of a class would be an attribute"
        raise RefusedError("a new name changes nothing", reason, statement.lineno, ADVICE)
    if (reader := _reads_names(view, scope)) is not None:
        reason = f"{view.source.segment(reader.func)} may show the new name"
        raise RefusedError("a new name changes nothing", reason, reader.lineno, ADVICE)


def _reads_names(view: FileView, scope: Scope) -> ast.Call | None:
    """A call that may look at all names of a scope: there, and for those of the module anywhere."""
    for node, where in view.names.nodes():
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        known = _READING_NAMES if where is scope else _READING_GLOBALS if isinstance(scope, ast.Module) else ()
        if any(view.names.is_builtin(node.func, name) for name in known):
            return node
    return None
