"""From what the user asks to jobs: the targets, both versions of the files that each one reaches, and its inputs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gbfix.cli.check_entries import Entries, EntryTarget, FunctionAt
from gbfix.cli.check_factories import needed_arguments
from gbfix.cli.check_modules import ModuleFile, imported_files, module_of_file, module_of_name
from gbfix.cli.check_reach import called_names
from gbfix.cli.check_targets import find_target
from gbfix.cli.check_versions import (
    Change,
    Changes,
    applied,
    fixes_in,
    given,
    overlaid,
    own_changes,
    text_with_digest,
    words,
)
from gbfix.engine.files import read_source
from gbfix.engine.git import changed_since, commit_of
from gbfix.engine.model import ConfigurationError, GbfixError
from gbfix.engine.undo import recorded_files
from gbfix.equivalence.keys import job_key
from gbfix.equivalence.model import Job, Settings, Target
from gbfix.evidence.model import Evidence
from gbfix.evidence.stack import Origin, origin

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
    original: str | None = None
    rewritten: str | None = None
    overlay: bool = False


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
        self._root = root
        self._evidence = evidence
        self._entries = None if evidence is None else Entries(evidence, self._text_then)
        self._find_pending = pending
        self._given: dict[Path, Changes] = {}
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
        changes = self._own(found, reached, self._all_changes(found.file))
        return changes if changes or self._is_given else self._own(found, reached, self._applied(reached))

    def _changes_for_test(self, found: EntryTarget) -> dict[Path, Change]:
        """What a test imports is rather all of a change than what its source mentions."""
        changes = self._all_changes(found.file)
        if not changes and not self._is_given:
            changes = self._applied(self._edited())
        settings = (folder / "conftest.py" for folder in found.file.parents if self._is_ours(folder / "conftest.py"))
        loaded = [module_of_file(file) for file in (found.file, *settings) if file.is_file()]
        reached = {file for module in loaded for file in imported_files(module, self._folders)}
        return {file: change for file, change in changes.items() if file in reached or not self._is_ours(file)}

    def _own(self, found: EntryTarget, reached: frozenset[Path], changes: Changes) -> dict[Path, Change]:
        """The changes that a target can notice; those of installed packages always count as reached."""
        noticed = {file: each for file, each in changes.items() if file in reached or not self._is_ours(file)}
        texts = [_text(file) for file in reached - noticed.keys()]
        texts += [version.text for each in noticed.values() for version in (each.original, each.rewritten)]
        start = {part for part in re.split(r"\W+", found.function.qualname) if part != "locals"}
        if found.target is not None:
            start.add(found.target.factory.rpartition(":")[2])
        if self._entries is not None:
            start |= self._entries.involved(found.function)
        return own_changes(noticed, called_names(texts, start))

    def _is_ours(self, file: Path) -> bool:
        return origin(str(file), str(self._root)) is Origin.PROJECT

    @property
    def _is_given(self) -> bool:
        wanted = self._wanted
        return wanted.overlay or wanted.original is not None or wanted.rewritten is not None

    def _all_changes(self, target: Path) -> Changes:
        """All that differs between the two versions, as far as nothing was applied yet."""
        wanted = self._wanted
        if wanted.overlay:
            return self._overlaid
        if self._is_given:
            if target not in self._given:
                self._given[target] = given(wanted.original, wanted.rewritten, target, self._root)
            return self._given[target]
        return self._pending

    @cached_property
    def _overlaid(self) -> Changes:
        return overlaid(self._root)

    @cached_property
    def _pending(self) -> Changes:
        files = {found.file for found in self._targets}
        return self._find_pending(files or (self._entries.files() if self._entries else ()))

    def _applied(self, files: Iterable[Path]) -> Changes:
        own = [file for file in files if self._is_ours(file)]
        return applied(own, self._root, self._digests)

    def _edited(self) -> Iterable[Path]:
        """The files of the project that an apply wrote or that differ from the last commit."""
        files = {record.path for record in recorded_files(self._root)}
        if commit_of(self._root, "HEAD") is not None:
            files |= {file for file in changed_since(self._root, "HEAD") if file.suffix == ".py"}
        return (file for file in files if file.is_file())

    @cached_property
    def _digests(self) -> Mapping[Path, str]:
        evidence = self._evidence
        if evidence is None:
            return {}
        return {Path(os.path.realpath(Path(evidence.root) / file)): digest for file, digest in evidence.hashes.items()}

    def _text_then(self, file: Path) -> str | None:
        """What a file held when the run was recorded, None when that is nowhere to be found."""
        digest = self._digests.get(file)
        return text_with_digest(file, digest, self._root) if digest else None

    def _reached(self, found: EntryTarget) -> frozenset[Path]:
        """The files that a target loads, as far as they belong to the project."""
        if found.target is None or not self._is_ours(found.file):
            return frozenset({found.file})
        recorded = self._entries.files() if self._entries else ()
        return imported_files(_module(found.target), self._folders) | frozenset(filter(self._is_ours, recorded))

    @cached_property
    def _folders(self) -> tuple[Path, ...]:
        """Where modules of the project are usually imported from."""
        return tuple(
            Path(os.path.realpath(folder)) for top in (Path.cwd(), self._root) for folder in (top, top / "src")
        )

    def _plan(self, found: EntryTarget, changes: Changes) -> Planned:
        target = found.target
        if target is None or not changes:
            return Planned(found.name, problem=found.problem)
        job = Job(
            target,
            {str(file): change.original.text for file, change in changes.items()},
            {str(file): change.rewritten.text for file, change in changes.items()},
            seen=self._entries.seen(found.function) if self._entries else (),
            inputs=self._wanted.inputs,
            settings=self._wanted.settings,
            fixes=fixes_in(changes),
        )
        if not target.attribute:
            return Planned(found.name, job, "", words(changes))  # nobody knows all that a test depends on
        others = {*self._reached(found), *_files_named((self._wanted.inputs, target.factory))} - set(changes)
        return Planned(found.name, job, "", words(changes), job_key(job, others))


def nothing_to_check(plans: Sequence[Planned]) -> str:
    """Of which targets there is nothing to check and why, in one line; empty when there is something of each."""
    names = [plan.name for plan in plans if plan.job is None and not plan.problem]
    if plans and not names:
        return ""
    subject = f"{', '.join(names)}: " if names else ""
    return f"{subject}nothing to check: no fix is pending, and nothing says that the files were others before"


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
