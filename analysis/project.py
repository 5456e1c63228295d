"""The files that are looked at together, and one file as a rule sees it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from gbfix.analysis.names import Names
from gbfix.analysis.regions import CompiledFunction, compiled_functions
from gbfix.analysis.source import SourceFile
from gbfix.analysis.values import Value


@dataclass(frozen=True, eq=False)
class Project:
    """The parsed files of one run, by path, and whether uncompiled modules count as regions."""

    files: dict[str, SourceFile]
    assume_compiled: bool = False

    @cached_property
    def names(self) -> dict[str, Names]:
        """The scopes of each file, by path; filled as files are asked for."""
        return {}

    @cached_property
    def compiled(self) -> dict[str, tuple[CompiledFunction, ...]]:
        """The compiled functions of each file, by path, in source order."""
        found: dict[str, list[CompiledFunction]] = {path: [] for path in self.files}
        for function in compiled_functions(self):
            found[function.path].append(function)
        return {path: tuple(functions) for path, functions in found.items()}

    def names_of(self, path: str) -> Names:
        """The scopes of one file, read once."""
        if path not in self.names:
            self.names[path] = Names(self.files[path])
        return self.names[path]

    def view(self, path: str) -> FileView:
        """One file of the project, as rules see it. Raises KeyError for an unknown path."""
        return FileView(self, self.files[path])

    def with_file(self, source: SourceFile) -> Project:
        """The same project with one file replaced."""
        return replace(self, files={**self.files, source.path: source})


@dataclass(frozen=True, eq=False)
class FileView:
    """One file with its project: all that a rule may read."""

    project: Project
    source: SourceFile

    @cached_property
    def class_members(self) -> dict[ast.ClassDef, dict[str, Value]]:
        """What the attributes set in `__init__` hold, by class; filled as classes are asked for."""
        return {}

    @property
    def names(self) -> Names:
        """The scopes of this file."""
        return self.project.names_of(self.source.path)

    @property
    def compiled(self) -> tuple[CompiledFunction, ...]:
        """The functions of this file that Dynamo traces into."""
        return self.project.compiled[self.source.path]


def load(sources: Iterable[SourceFile], assume_compiled: bool = False) -> Project:
    """Put parsed files together."""
    return Project({source.path: source for source in sources}, assume_compiled)
