"""Which of the given files an import means."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import Protocol

from gbfix.analysis.names import Names

_NEVER_GIVEN = frozenset({"torch", *sys.stdlib_module_names})
"""Modules that a file of the same name among the given ones must not stand in for."""


class NamesOfFiles(Protocol):
    """What looking across files needs of a project."""

    def names_of(self, path: str) -> Names:
        """The scopes of one file."""


class Modules:
    """The given files as Python modules: a.b is a file .../a/b.py or .../a/b/__init__.py."""

    def __init__(self, paths: Iterable[str], binds: Callable[[str, str], bool]) -> None:
        """`binds` tells whether a file binds a name at its top level."""
        self._binds = binds
        self._file_of: dict[tuple[str, ...], str] = {}
        self._by_name: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        for path in sorted(paths):
            parts = PurePath(path).with_suffix("").parts
            module = parts[:-1] if parts[-1] == "__init__" else parts
            self._file_of[module] = path
            for start in range(len(module)):
                self._by_name.setdefault(module[start:], []).append(module)

    def resolve(self, importer: str, dotted: str) -> tuple[str, tuple[str, ...]] | None:
        """The given file that a dotted name leads to, and the names to look up inside it.

        `dotted` has leading dots when relative to the file `importer`. None when it leads outside the given files.
        """
        names = tuple(part for part in dotted.split(".") if part)
        level = len(dotted) - len(dotted.lstrip("."))
        if level:
            package = PurePath(importer).parent.parts
            return self._inside(importer, package[: len(package) - level + 1], names, shortest=0)
        if not names or names[0] in _NEVER_GIVEN:
            return None
        root = self._root(importer, names)
        return None if root is None else self._inside(importer, root, names, shortest=1)

    def leads_inside(self, importer: str, dotted: str) -> bool:
        """True when a dotted name may lead to one of the given files, as far as can be told without reading any."""
        names = tuple(part for part in dotted.split(".") if part)
        if dotted.startswith("."):
            return True
        return bool(names) and names[0] not in _NEVER_GIVEN and self._root(importer, names) is not None

    def _inside(
        self, importer: str, root: tuple[str, ...], names: tuple[str, ...], shortest: int
    ) -> tuple[str, tuple[str, ...]] | None:
        """The longest module at the front of `names`, but a name that a package itself binds comes first."""
        for length in range(len(names), shortest - 1, -1):
            path = self._file_of.get(root + names[:length])
            if path is None:
                continue
            package = self._file_of.get(root + names[: length - 1]) if length else None
            if package is not None and package != importer and self._binds(package, names[length - 1]):
                return package, names[length - 1 :]
            return path, names[length:]
        return None

    def _root(self, importer: str, names: tuple[str, ...]) -> tuple[str, ...] | None:
        """The folder that an absolute import starts from: the nearest around the importer, else the only one."""
        for length in range(len(names), 0, -1):
            modules = self._by_name.get(names[:length], [])
            roots = [module[: len(module) - length] for module in modules]
            around = [root for root in roots if PurePath(importer).parts[: len(root)] == root]
            if around:
                return max(around, key=len)
            if len(roots) == 1:
                return roots[0]
        return None
