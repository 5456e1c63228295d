"""What a recorded run knows of compiled functions: what ran for them, how to load them, how they were called."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from gbfix.cli.check_factories import CompileCall, loadable
from gbfix.cli.check_modules import ModuleFile, module_of_file
from gbfix.cli.names import display_name
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import GbfixError
from gbfix.equivalence.model import Target
from gbfix.evidence.model import ArgumentsSeen, Entry, Evidence, Place

_FACTORY = "--factory MODULE:FUNCTION, a function without arguments that returns one"


@dataclass(frozen=True)
class FunctionAt:
    """A function of a file, by its qualified name; the file absolute, links resolved."""

    file: Path
    qualname: str


@dataclass(frozen=True)
class EntryTarget:
    """A compiled function as a target. problem: why it cannot be loaded, with what to do; else empty.

    function: where it is defined, as far as a run or the user says so.
    """

    name: str
    function: FunctionAt
    target: Target | None
    problem: str = ""

    @property
    def file(self) -> Path:
        """The file of the function."""
        return self.function.file


class Entries:
    """The compiled functions of the project that a run showed, each once.

    text_then: gives what a file held at the time of the run, None when nobody knows.
    """

    def __init__(self, evidence: Evidence, text_then: Callable[[Path], str | None]) -> None:
        self._evidence = evidence
        self._text_then = text_then
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

    def involved(self, function: FunctionAt) -> frozenset[str]:
        """The bare names of the functions that were compiled, broke or were compiled again for a compiled function."""
        names = {entry.function for entry in self._by_function.get(function, ())}
        return frozenset(_bare(place.function) for place in self._places(names) if place.function)

    def target(self, function: FunctionAt) -> EntryTarget:
        """How to load a compiled function again."""
        entries = self._by_function[function]
        try:
            module = module_of_file(function.file)
        except GbfixError as error:
            return EntryTarget(f"{display_name(function.file)}:{function.qualname}", function, None, str(error))
        name = f"{module.name}:{function.qualname}"
        try:
            target = self._target(module, function, entries)
        except GbfixError as error:
            return EntryTarget(name, function, None, str(error))
        outer = function.qualname.partition(".<locals>")[0].removesuffix(".forward")
        advice = f"gbfix check {module.name}:{outer} {_FACTORY}"
        problem = "" if target is not None else f"{_why(function.qualname)}; {advice}"
        return EntryTarget(name if target is None else target.name, function, target, problem)

    def seen(self, function: FunctionAt) -> tuple[ArgumentsSeen, ...]:
        """The arguments that a compiled function was called with; that of a module is its forward."""
        names = [function.qualname, f"{function.qualname}.forward", f"{function.qualname}.__call__"]
        found = [entry for name in names for entry in self._by_function.get(replace(function, qualname=name), ())]
        return tuple(replace(one, grad_enabled=self._grad_enabled(entry)) for entry in found for one in entry.arguments)

    def _grad_enabled(self, entry: Entry) -> bool:
        """False when every line of an entry that was observed ran without gradients."""
        at = entry.defined
        lines = [o for o in self._evidence.observations if at and (o.file, o.function) == (at.file, entry.function)]
        return not lines or any(observation.grad_enabled for observation in lines)

    def _target(self, module: ModuleFile, function: FunctionAt, entries: list[Entry]) -> Target | None:
        """None when nothing says how to get at it. Raises GbfixError for a file that does not parse."""
        for entry in entries:
            made = loadable(module, function.qualname, self._compile_call(entry.compiled_at))
            if made is not None:
                return made
        return self._saved(module, function, entries)

    def _saved(self, module: ModuleFile, function: FunctionAt, entries: list[Entry]) -> Target | None:
        """The module as the run had it, where that was saved and is still there."""
        path = next((entry.saved for entry in entries if entry.saved and Path(entry.saved).is_file()), "")
        attribute = function.qualname.removesuffix(".forward")
        if not path or "<locals>" in attribute or attribute == function.qualname:
            return None
        scripts = (word for process in self._evidence.processes for word in process.argv if word.endswith(".py"))
        script = os.path.realpath(next(scripts, ""))
        name = f"{module.name}:{attribute}"
        return Target(name, str(module.file), module.name, str(module.search), attribute, saved=path, script=script)

    def _compile_call(self, at: Place | None) -> CompileCall | None:
        path = None if at is None else self._path(at)
        text = None if path is None else self._text_then(path)
        return None if at is None or path is None or text is None else CompileCall(path, text, at.line)

    def _places(self, names: set[str]) -> Iterator[Place]:
        for fragment in self._evidence.fragments:
            if fragment.entry in names:
                yield fragment.place
        for site in self._evidence.breaks:
            if names.intersection(site.entries):
                yield from _known(site.place, site.project, *site.stack)
        for recompile in self._evidence.recompiles:
            if names.intersection(recompile.entries):
                yield from _known(recompile.place, recompile.owner)

    def _function(self, entry: Entry) -> FunctionAt:
        assert entry.defined is not None
        return FunctionAt(self._path(entry.defined), entry.function)

    def _path(self, place: Place) -> Path:
        return Path(os.path.realpath(Path(self._evidence.root) / place.file))


def _known(*places: Place | None) -> tuple[Place, ...]:
    return tuple(place for place in places if place is not None)


def _bare(qualname: str) -> str:
    return qualname.rpartition(".")[2]


def _why(qualname: str) -> str:
    if "<locals>" in qualname or "<lambda>" in qualname:
        return "it is made in a function, so that it cannot be loaded by a name"
    return f"{qualname.partition('.')[0]} cannot be built without arguments"
