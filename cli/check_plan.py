"""From what the user asks to jobs: the targets, both versions of the files that each one reaches, and its inputs."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path

from gbfix.cli.check_entries import Entries, EntryTarget, FunctionAt
from gbfix.cli.check_factories import needed_arguments
from gbfix.cli.check_modules import ModuleFile, imported_files, module_of_file, module_of_name
from gbfix.cli.check_reach import called_names
from gbfix.cli.check_sources import Asked, Sources
from gbfix.cli.check_targets import find_target
from gbfix.cli.check_versions import Change, Changes, apart_in, fixes_in, own_changes, words
from gbfix.cli.names import display_name
from gbfix.engine.dataclass import dataclass
from gbfix.engine.files import read_source
from gbfix.engine.model import ConfigurationError, GbfixError
from gbfix.equivalence.keys import job_key
from gbfix.equivalence.model import Job, Settings, Target
from gbfix.evidence.model import Evidence
from gbfix.evidence.saved_modules import built_beside

NOTHING_TO_GO_BY = (
    "nothing says what to check: name a target, such as model:step, or record a run first: gbfix trace -- CMD"
)


@dataclass(frozen=True)
class Wanted:
    """What to check, as the user says it. inputs, factory: as the options give them, empty for none."""

    settings: Settings
    targets: tuple[str, ...] = ()
    factory: str = ""
    inputs: str = ""
    versions: Asked = field(default_factory=Asked)


@dataclass(frozen=True)
class Planned:
    """One target. job: None when it cannot be loaded (`problem` says why) or when its versions do not differ.

    versions: which ones are compared. key: of the job, for the store.
    """

    name: str
    job: Job | None = None
    problem: str = ""
    versions: str = ""
    key: str = ""


class Planner:
    """Makes jobs in one project. pending: gives what `gbfix apply` would write, these files looked at as well."""

    def __init__(
        self,
        wanted: Wanted,
        root: Path,
        evidence: Evidence | None,
        pending: Callable[[Iterable[Path]], Changes],
    ) -> None:
        self._wanted = wanted
        self._sources = Sources(wanted.versions, root, evidence, pending)
        self._entries = None if evidence is None else Entries(evidence, self._sources.text_then)
        self._targets = [self._named(text) for text in wanted.targets]

    def plans(self) -> tuple[Planned, ...]:
        """The targets in the order in which they are named, or those of the evidence that a change touches, by name.

        Raises GbfixError when nothing says what to check, and for a target or version that is not there.
        """
        if self._targets:
            return tuple(self._plan(found, self._changes(found)) for found in self._targets)
        if self._entries is None:
            raise ConfigurationError(NOTHING_TO_GO_BY)
        if not self._entries.functions():
            raise ConfigurationError(f"no compiled function of the recorded run is in a file here; {NOTHING_TO_GO_BY}")
        found = [self._entries.target(function) for function in self._entries.functions()]
        planned = [self._plan(each, changes) for each in found if (changes := self._changes(each))]
        return tuple(sorted(planned, key=lambda plan: plan.name))

    def _named(self, text: str) -> EntryTarget:
        """A target that the user names. A class that needs arguments is looked for in the evidence."""
        target = find_target(text, self._wanted.factory, Path.cwd())
        file = Path(target.file)
        function = FunctionAt(file, target.attribute)
        needed = () if target.factory or not target.attribute else needed_arguments(file, target.attribute)
        if not needed:
            return EntryTarget(target.name, function, target)
        recorded = FunctionAt(file, f"{target.attribute}.forward")
        if self._entries is not None and recorded in self._entries.functions():
            found = self._entries.target(recorded)
            if found.target is not None:
                return found
        problem = (
            f"{target.attribute.partition('.')[0]} needs arguments to be built ({', '.join(needed)}); name with "
            "--factory module:function a function without arguments that returns one"
        )
        return EntryTarget(target.name, function, None, problem)

    def _changes(self, found: EntryTarget) -> dict[Path, Change]:
        """What differs between the versions and concerns a target: what is pending, else what was applied."""
        if found.target is not None and not found.target.attribute:
            return self._changes_for_test(found)
        reached = self._reached(found)
        changes = self._own(found, reached, self._sources.first(found.file, self._looked_at))
        if changes or self._sources.are_named:
            return changes
        return self._own(found, reached, self._sources.applied(reached))

    def _changes_for_test(self, found: EntryTarget) -> dict[Path, Change]:
        """What a test imports is rather all of a change than what its source mentions."""
        changes = self._sources.first(found.file, self._looked_at)
        if not changes and not self._sources.are_named:
            changes = self._sources.applied()
        fixtures = (folder / "conftest.py" for folder in found.file.parents)
        files = [found.file, *(file for file in fixtures if self._sources.is_ours(file) and file.is_file())]
        loaded = map(module_of_file, files)
        reached = {file for module in loaded for file in imported_files(module, self._sources.folders)}
        return {file: change for file, change in changes.items() if file in reached or not self._sources.is_ours(file)}

    def _own(self, found: EntryTarget, reached: frozenset[Path], changes: Changes) -> dict[Path, Change]:
        """The changes that a target can notice; those of installed packages always count as reached."""
        noticed = {file: each for file, each in changes.items() if file in reached or not self._sources.is_ours(file)}
        texts = [_text(file) for file in reached - noticed.keys()]
        texts += [version.text for each in noticed.values() for version in (each.original, each.rewritten)]
        start = {part for part in re.split(r"\W+", found.function.qualname) if part != "locals"}
        if found.target is not None:
            start.add(found.target.factory.rpartition(":")[2])
        if self._entries is not None:
            start |= self._entries.involved(found.function)
        return own_changes(noticed, called_names(texts, start))

    @cached_property
    def _looked_at(self) -> frozenset[Path]:
        """The files in which fixes can be pending that concern a target, beside those of the current folder."""
        files = {found.file for found in self._targets}
        return frozenset(files or (self._entries.files() if self._entries else ()))

    def _reached(self, found: EntryTarget) -> frozenset[Path]:
        """The files that a target loads, as far as they belong to the project."""
        if found.target is None or not self._sources.is_ours(found.file):
            return frozenset({found.file})
        recorded = filter(self._sources.is_ours, self._entries.files() if self._entries else ())
        return imported_files(_module(found.target), self._sources.folders).union(recorded)

    def _plan(self, found: EntryTarget, changes: Changes) -> Planned:
        target = found.target
        if target is None or not changes:
            return Planned(found.name, problem=found.problem)
        if target.saved and (built := _built_otherwise(changes)):
            anew = built_beside(Path(target.saved))
            if not anew.is_file():
                return Planned(found.name, problem=f"{built}, and the module that the run saved was built before that")
            target = replace(target, saved=str(anew))
        job = Job(
            target,
            {str(file): change.original.text for file, change in changes.items()},
            {str(file): change.rewritten.text for file, change in changes.items()},
            seen=self._entries.seen(found.function) if self._entries else (),
            inputs=self._wanted.inputs,
            settings=replace(self._wanted.settings, apart=apart_in(changes)),
            fixes=fixes_in(changes),
        )
        if not target.attribute:
            return Planned(found.name, job, "", words(changes))  # nobody knows all that a test depends on
        others = {*self._reached(found), *_files_named((self._wanted.inputs, target.factory))} - set(changes)
        return Planned(found.name, job, "", words(changes), job_key(job, others))


def nothing_to_check(plans: Sequence[Planned], versions: Asked, *, unsafe: bool) -> str:
    """Of which targets there is nothing to check and why, in one line; empty when there is something of each."""
    names = [plan.name for plan in plans if plan.job is None and not plan.problem]
    if plans and not names:
        return ""
    subject = f"{', '.join(names)}: " if names else ""
    if versions != Asked():
        return f"{subject}nothing to check: both versions are the same in what is reached from there"
    more = "--original names an earlier version"
    more = more if unsafe else f"--unsafe adds the fixes that assume something, {more}"
    return f"{subject}nothing to check: no fix is pending, and the files are not known to have changed; {more}"


def _built_otherwise(changes: Changes) -> str:
    """Which way of building modules differs between the versions, in words; empty for none."""
    for file, change in changes.items():
        before, after = (_initializers(version.text) for version in (change.original, change.rewritten))
        if before != after:
            return f"a fix changes an __init__ of {display_name(file)}"
    return ""


def _initializers(text: str) -> list[str]:
    return [
        ast.dump(node)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    ]


def _text(file: Path) -> str:
    """The text of a file that is only searched for names; nothing when it cannot be read."""
    try:
        return read_source(file).text
    except GbfixError:
        return ""


def _module(target: Target) -> ModuleFile:
    return ModuleFile(Path(target.file), target.module, Path(target.search))


def _files_named(names: Iterable[str]) -> set[Path]:
    """The files of the modules in "module:attribute", as far as they are found."""
    found = set()
    for module, colon, _ in (name.partition(":") for name in names):
        try:
            found |= {module_of_name(module, Path.cwd()).file} if colon else set()
        except GbfixError:  # the check itself will say so
            continue
    return found
