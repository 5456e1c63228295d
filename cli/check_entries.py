"""What a recorded run knows of compiled functions: which of them a change touches, how to load and how to call them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

from gbfix.analysis.source import SourceFile, parse
from gbfix.cli.check_factories import loadable
from gbfix.cli.check_modules import ModuleFile, module_of_file
from gbfix.cli.names import display_name
from gbfix.engine.model import GbfixError, SourceError
from gbfix.equivalence.model import Target
from gbfix.evidence.model import ArgumentsSeen, Entry, Evidence, Place

_FACTORY = "name it with --factory module:function, a function without arguments that returns it"


@dataclass(frozen=True)
class FunctionAt:
    """A function of a file, by its qualified name; the file absolute, links resolved."""

    file: Path
    qualname: str


@dataclass(frozen=True)
class EntryTarget:
    """A compiled function of the run as a target. problem: why it cannot be loaded, with what to do; else empty."""

    name: str
    file: Path
    target: Target | None
    problem: str = ""


class Entries:
    """The compiled functions of the project that a run showed, each once."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._by_function: dict[FunctionAt, list[Entry]] = {}
        for entry in evidence.entries:
            if entry.defined is not None and self._path(entry.defined).is_file():
                self._by_function.setdefault(self._function(entry), []).append(entry)

    def functions(self) -> tuple[FunctionAt, ...]:
        """The compiled functions whose files are there."""
        return tuple(self._by_function)

    def files(self) -> frozenset[Path]:
        """The files of the functions, and those in which something was compiled or broke for them."""
        places = [place for entry in self._evidence.entries for place in _known(entry.defined)]
        places += [fragment.place for fragment in self._evidence.fragments]
        places += [place for site in self._evidence.breaks for place in _known(site.place, site.project, *site.stack)]
        return frozenset(path for path in map(self._path, places) if path.is_file())

    def touched(self, function: FunctionAt, changed: Collection[FunctionAt]) -> bool:
        """True when a changed function is the compiled one, is nested in it, or was compiled or broke for it.

        Records have bare names of functions: of two methods of the same name in a file both count.
        """
        names = {entry.function for entry in self._by_function[function]}
        involved = {(function.file, _bare(function.qualname)), *self._involved(names)}
        return any((change.file, _bare(change.qualname)) in involved or _is_in(change, function) for change in changed)

    def target(self, function: FunctionAt) -> EntryTarget:
        """How to load a compiled function again."""
        entries = self._by_function[function]
        try:
            module = module_of_file(function.file)
        except GbfixError as error:
            return EntryTarget(f"{display_name(function.file)}:{function.qualname}", function.file, None, str(error))
        name = f"{module.name}:{function.qualname}"
        try:
            target = self._target(module, function, entries)
        except GbfixError as error:
            return EntryTarget(name, function.file, None, str(error))
        problem = "" if target is not None else f"{_why(function.qualname)}; {_FACTORY}"
        return EntryTarget(name if target is None else target.name, function.file, target, problem)

    def seen(self, target: Target) -> tuple[ArgumentsSeen, ...]:
        """The arguments that a target was called with."""
        names = {target.attribute, f"{target.attribute}.forward", f"{target.attribute}.__call__"}
        found = [
            entry
            for function, entries in self._by_function.items()
            if function.file == Path(target.file) and function.qualname in names
            for entry in entries
        ]
        return tuple(arguments for entry in found for arguments in entry.arguments)

    def _target(self, module: ModuleFile, function: FunctionAt, entries: list[Entry]) -> Target | None:
        """None when nothing says how to get at it. Raises GbfixError for a file that does not parse."""
        for entry in entries:
            at = entry.compiled_at
            made = loadable(module, function.qualname, self._path(at) if at else None, at.line if at else 0)
            if made is not None:
                return made
        return None

    def _involved(self, names: set[str]) -> Iterator[tuple[Path, str]]:
        for fragment in self._evidence.fragments:
            if fragment.entry in names:
                yield self._path(fragment.place), _bare(fragment.place.function)
        for site in self._evidence.breaks:
            if names.intersection(site.entries):
                for place in _known(site.place, site.project, *site.stack):
                    yield self._path(place), _bare(place.function)
        for recompile in self._evidence.recompiles:
            if names.intersection(recompile.entries):
                for place in _known(recompile.place, recompile.owner):
                    yield self._path(place), _bare(place.function)

    def _function(self, entry: Entry) -> FunctionAt:
        assert entry.defined is not None
        return FunctionAt(self._path(entry.defined), entry.function)

    def _path(self, place: Place) -> Path:
        return Path(os.path.realpath(Path(self._evidence.root) / place.file))


def functions_between(file: Path, before: str, after: str) -> frozenset[FunctionAt]:
    """The functions of a file in which two texts of it differ; "" stands for what is outside of functions."""
    old, new = before.splitlines(), after.splitlines()
    changed: set[str] = set()
    for kind, first, end, new_first, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            changed |= _functions_at(before, first + 1, end) | _functions_at(after, new_first + 1, new_end)
    return frozenset(FunctionAt(file, name) for name in changed)


def _functions_at(text: str, first: int, last: int) -> set[str]:
    """The innermost functions around lines of a text, decorators included; none when it does not parse."""
    try:
        file = _parsed(text)
    except SourceError:
        return set()
    spans = [(file.span(function.node), function) for function in file.functions if function.name != "<lambda>"]
    found = set()
    for line in range(first, last + 1):
        around = [function.qualname for span, function in spans if span.line <= line <= span.end_line]
        found.add(around[-1] if around else "")
    return found


@cache
def _parsed(text: str) -> SourceFile:
    return parse("", text)


def _known(*places: Place | None) -> tuple[Place, ...]:
    return tuple(place for place in places if place is not None)


def _bare(qualname: str) -> str:
    return qualname.rpartition(".")[2]


def _is_in(change: FunctionAt, function: FunctionAt) -> bool:
    return change.file == function.file and change.qualname.startswith(f"{function.qualname}.")


def _why(qualname: str) -> str:
    if "<locals>" in qualname or "<lambda>" in qualname:
        return "it is made in a function, so that it cannot be loaded by a name"
    return f"{qualname.partition('.')[0]} cannot be built without arguments"
