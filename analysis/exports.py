"""Which names the top level of a given file has, also through `from m import *`."""

from __future__ import annotations

import ast

from gbfix.analysis.modules import Modules, NamesOfFiles


class Exports:
    """Answers before a name is followed: packages that star-import hundreds of modules are common."""

    def __init__(self, files: NamesOfFiles, modules: Modules) -> None:
        self._files = files
        self._modules = modules
        self._names: dict[str, frozenset[str] | None] = {}

    def has(self, path: str, name: str) -> bool:
        """True when the file may have the name at its top level."""
        names = self._files.names_of(path)
        if name in names.local_bindings(names.source.tree):
            return True
        if path not in self._names:
            self._names[path] = self._through_stars(path)
        exported = self._names[path]
        return exported is None or name in exported

    def _through_stars(self, path: str) -> frozenset[str] | None:
        """The names that star imports bring, None when one of them leads outside the given files."""
        found: set[str] = set()
        seen, pending = {path}, [path]
        while pending:
            current = pending.pop()
            names = self._files.names_of(current)
            local = names.local_bindings(names.source.tree)
            found.update(name for name in local if not name.startswith("_"))
            for binding in local.get("*", ()):
                module = (binding.qualified or "").removesuffix("*")
                target = self._modules.resolve(current, module if module.strip(".") == "" else module.rstrip("."))
                if target is None and isinstance(binding.node, ast.ImportFrom) and not binding.node.level:
                    return None
                if target is not None and not target[1] and target[0] not in seen:
                    seen.add(target[0])
                    pending.append(target[0])
        return frozenset(found)
