"""The files that are looked at together, and one file as a rule sees it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from gbfix.analysis.callers import Importers
from gbfix.analysis.capabilities import KNOWN, Torch
from gbfix.analysis.files import Files, files_of
from gbfix.analysis.moved_observations import moved
from gbfix.analysis.names import Names
from gbfix.analysis.observed import Observed
from gbfix.analysis.preferences import DEFAULT, Preferences
from gbfix.analysis.recompiles import RecompileSeen, moved_recompiles
from gbfix.analysis.regions import CompiledFunction, Search, search
from gbfix.analysis.source import Function, SourceFile
from gbfix.analysis.traced import is_left_out, traced_functions
from gbfix.analysis.values import Value
from gbfix.engine.dataclass import dataclass

if TYPE_CHECKING:
    from gbfix.analysis.fakes import Fakes
    from gbfix.analysis.flow import Flow


@dataclass(frozen=True, eq=False)
class Project:
    """The parsed files of one run, by path, and whether uncompiled modules count as regions."""

    files: Files
    assume_compiled: bool = False
    observed: Mapping[str, Mapping[int, Observed]] = field(default_factory=dict)
    """What a run showed at the lines of some of the files, by path and line."""
    fakes: Fakes | None = None
    """Tries operations on observed tensors; without it only element-wise results are known."""
    preferences: Preferences = DEFAULT
    """What the user chose where a rule has more than one way."""
    torch: Torch = KNOWN
    """What the installed PyTorch captures by itself, which needs no rewriting."""
    recompiles: Mapping[str, tuple[RecompileSeen, ...]] = field(default_factory=dict)
    """What was compiled again in a run, by the path of the function that was."""
    changes: tuple[str, ...] | None = None
    """What the compiled functions of a run change that outlives them, in words; None when nobody looked."""
    runs_again: bool = False
    """Whether the program will run with the fixes, so that what is compiled only then is looked at, too."""

    @cached_property
    def names(self) -> dict[str, Names]:
        """The scopes of each file, by path; filled as files are asked for."""
        return {}

    @cached_property
    def compiled(self) -> dict[str, tuple[CompiledFunction, ...]]:
        """The compiled functions of each file, by path, in source order."""
        found: dict[str, list[CompiledFunction]] = {path: [] for path in self.files}
        for function in self.search.functions:
            found[function.path].append(function)
        for function in traced_functions(self, [f for functions in found.values() for f in functions]):
            found[function.path].append(function)
            found[function.path].sort(key=lambda compiled: compiled.function.node.lineno)
        return {path: tuple(functions) for path, functions in found.items()}

    @cached_property
    def search(self) -> Search:
        """The search for compiled functions."""
        return search(self)

    @cached_property
    def importers(self) -> Importers:
        """Which files import what from which."""
        return Importers(self)

    def names_of(self, path: str) -> Names:
        """The scopes of one file, read once."""
        if path not in self.names:
            self.names[path] = Names(self.files[path])
        return self.names[path]

    def view(self, path: str) -> FileView:
        """One file of the project, as rules see it. Raises KeyError for an unknown path."""
        return FileView(self, self.files[path])

    def without_observations(self) -> Project:
        """The same project without what a run showed at its lines; what was compiled again says where to look."""
        bare = replace(self, observed={}, fakes=None, changes=None, runs_again=False)
        vars(bare).update(names=self.names, compiled=self.compiled)
        return bare

    def with_file(self, source: SourceFile) -> Project:
        """The same project with one file edited.

        What is compiled is carried over by qualified name: a fix changes what a function does, not who calls it, and
        searching thousands of files again for every pass would take minutes.
        """
        observed = dict(self.observed)
        if source.path in observed:
            observed[source.path] = moved(observed[source.path], self.files[source.path].text, source.text)
        before = self.files[source.path]
        standing_for = _standing_for(before, source)
        recompiles = {
            path: moved_recompiles(found, standing_for, before, source) for path, found in self.recompiles.items()
        }
        edited = replace(self, files=self.files.with_file(source), observed=observed, recompiles=recompiles)
        names = {path: scopes for path, scopes in self.names.items() if path != source.path}
        vars(edited).update(names=names)
        # What a fix put under torch.compiler.disable is compiled no more; what was under it all along is on purpose.
        still = [
            c
            for c in self.compiled[source.path]
            if c.function not in standing_for
            or is_left_out(before, self.names_of(source.path), c.function)
            or not is_left_out(source, edited.names_of(source.path), standing_for[c.function])
        ]
        vars(edited).update(compiled={**self.compiled, source.path: _carried_over(still, standing_for, source)})
        return edited


@dataclass(frozen=True, eq=False)
class FileView:
    """One file with its project: all that a rule may read."""

    project: Project
    source: SourceFile

    @cached_property
    def class_members(self) -> dict[ast.ClassDef, dict[str, Value]]:
        """What the attributes set in `__init__` hold, by class; filled as classes are asked for."""
        return {}

    @cached_property
    def flows(self) -> dict[Function, Flow]:
        """What holds at each statement, by function; filled by `flow.flow_of`, which all rules share."""
        return {}

    def observed(self, line: int) -> Observed | None:
        """What a run showed where this line was about to run, None when it did not."""
        return self.project.observed.get(self.source.path, {}).get(line)

    @property
    def names(self) -> Names:
        """The scopes of this file."""
        return self.project.names_of(self.source.path)

    @property
    def compiled(self) -> tuple[CompiledFunction, ...]:
        """The functions of this file that Dynamo traces into."""
        return self.project.compiled[self.source.path]


def _carried_over(
    compiled: Iterable[CompiledFunction], standing_for: Mapping[Function, Function], after: SourceFile
) -> tuple[CompiledFunction, ...]:
    """The compiled functions of an edited file: where a fix has another one compiled in its place, that one."""
    found = []
    new = [function for function in after.functions if function not in standing_for.values()]
    for one in compiled:
        function = standing_for.get(one.function)
        successor = next((f for f in new if _takes_over(f, one.function)), None)
        if successor is not None and function is not None and not _decorators(function):
            function = successor
        if function is not None:
            found.append(replace(one, function=function))
    return tuple(found)


def _takes_over(new: Function, old: Function) -> bool:
    """True for the compiled part that a fix made of a function, which is not compiled itself any more."""
    return bool(_decorators(new)) and new.name.startswith(f"_{old.name.lstrip('_')}_graph")


def _decorators(function: Function) -> frozenset[str]:
    """The decorators of a function that compile it, as they are written."""
    written = [ast.unparse(one) for one in getattr(function.node, "decorator_list", [])]
    return frozenset(text for text in written if "compile" in text)


def _standing_for(before: SourceFile, after: SourceFile) -> dict[Function, Function]:
    """The functions of an edited file, by the old ones that they stand for: the n-th of a name for the n-th."""
    new = _by_name(after)
    return {function: new[key] for key, function in _by_name(before).items() if key in new}


def _by_name(source: SourceFile) -> dict[tuple[str, int], Function]:
    seen: dict[str, int] = {}
    found = {}
    for function in source.functions:
        seen[function.qualname] = seen.get(function.qualname, 0) + 1
        found[function.qualname, seen[function.qualname]] = function
    return found


def load(
    sources: Iterable[SourceFile] | Files,
    assume_compiled: bool = False,
    observed: Mapping[str, Mapping[int, Observed]] | None = None,
    fakes: Fakes | None = None,
    preferences: Preferences = DEFAULT,
    torch: Torch = KNOWN,
    recompiles: Mapping[str, tuple[RecompileSeen, ...]] | None = None,
    changes: tuple[str, ...] | None = None,
    runs_again: bool = False,
) -> Project:
    """Put parsed files together, with what a run showed of them, what the user chose, and for which PyTorch."""
    files = sources if isinstance(sources, Files) else files_of(sources)
    return Project(
        files, assume_compiled, observed or {}, fakes, preferences, torch, recompiles or {}, changes, runs_again
    )
