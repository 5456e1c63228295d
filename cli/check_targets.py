"""What the user names to be checked: `module:attribute`, `path/file.py:attribute`, or the id of a pytest test."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from gbfix.analysis.source import parse
from gbfix.cli.check_modules import ModuleFile, module_of_file, module_of_name
from gbfix.cli.names import display_name
from gbfix.engine.files import read_source
from gbfix.engine.model import ConfigurationError
from gbfix.engine.paths import printable
from gbfix.equivalence.model import Target
from gbfix.equivalence.work import target_of_test

_FORMS = "write module:function, path/file.py:function, or the id of a test, tests/test_x.py::test_y"
_NAMES_SHOWN = 6


def find_target(text: str, factory: str, folder: Path) -> Target:
    """The target that a person means. factory: as --factory gives it, empty for none. folder: where names start.

    `Net.forward` is the module `Net`: what a module is called by. Raises ConfigurationError for what is not there, and
    SourceError for a file that does not parse.
    """
    if "::" in text:
        return _test(text, factory, folder)
    place, colon, attribute = text.rpartition(":")
    if not colon or not place or not attribute:
        raise ConfigurationError(f"{text!r} names no function or class; {_FORMS}")
    module = module_of_file(folder / place) if _is_path(place) else module_of_name(place, folder)
    return target_in(module, attribute, factory)


def target_in(module: ModuleFile, attribute: str, factory: str = "") -> Target:
    """The target in a module that was found already; raises as `find_target` does."""
    if not all(part.isidentifier() for part in attribute.split(".")):
        raise ConfigurationError(f"{attribute!r} is no name of a function or class; {_FORMS}")
    name = display_name(module.file)
    tree = parse(name, read_source(module.file).text).tree
    found = _check_defined(tree, attribute, name)
    if attribute.endswith((".forward", ".__call__")) and isinstance(found, ast.ClassDef):
        attribute = attribute.rpartition(".")[0]
    target = Target(f"{module.name}:{attribute}", str(module.file), module.name, str(module.search), attribute)
    if not factory:
        return target
    if ":" not in factory:
        _check_defined(tree, factory, name)
        return replace(target, factory=factory)
    place, _, function = factory.rpartition(":")
    if _is_path(place):
        place = module_of_file(Path(place)).name
    return replace(target, factory=f"{place}:{function}")


def top_level_names(tree: ast.Module) -> dict[str, ast.stmt | None]:
    """The names that a module binds outside of functions and classes, each with its def or class if it is one."""
    names: dict[str, ast.stmt | None] = {}
    for statement in _statements(tree.body):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names[statement.name] = statement
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                names.setdefault(alias.asname or alias.name.partition(".")[0], None)
        else:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    names.setdefault(node.id, None)
    return names


def _test(text: str, factory: str, folder: Path) -> Target:
    name = text.partition("::")[0]
    file = folder / name
    if not file.is_file():
        raise ConfigurationError(f"{printable(Path(name))}: there is no such file, whose test {text} would be")
    function = text.partition("::")[2]
    if function.isidentifier() and not any("test" in part.lower() for part in (file.stem, function)):
        raise ConfigurationError(f"{text} looks like no test; write {name}:{function} for the function {function}")
    if factory:
        raise ConfigurationError(f"{text} is a test, which makes by itself what it calls; leave --factory out")
    return target_of_test(text, Path(os.path.realpath(file)), folder)


def _is_path(place: str) -> bool:
    return place.endswith(".py") or "/" in place or "\\" in place


def _check_defined(tree: ast.Module, attribute: str, file: str) -> ast.stmt | None:
    """The def or class of the first part of a dotted attribute, if it is one. Raises ConfigurationError without it."""
    first, _, rest = attribute.partition(".")
    names = top_level_names(tree)
    if first in names:
        return names[first]
    if "*" in names or "__getattr__" in names:
        return None
    callables = [name for name, node in names.items() if node is not None]
    near = get_close_matches(first, callables, n=1)
    if near:
        hint = f"did you mean {'.'.join((near[0], rest)) if rest else near[0]}?"
    elif callables:
        more = ", ..." if len(callables) > _NAMES_SHOWN else ""
        hint = f"it defines {', '.join(callables[:_NAMES_SHOWN])}{more}"
    else:
        hint = "it defines no function and no class"
    raise ConfigurationError(f"{file}: has no {first} at its top level; {hint}")


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements that run when the module is imported, those in blocks too."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for block in ("body", "orelse", "finalbody", "handlers"):
            for inner in getattr(statement, block, ()):
                yield from _statements(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])
