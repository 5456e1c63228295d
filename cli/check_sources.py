"""Where both versions of the files of a project come from, by what the user asks for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path

from gbfix.cli.check_versions import Changes, applied, given, overlaid, text_with_digest
from gbfix.engine.dataclass import dataclass
from gbfix.engine.git import changed_since, commit_of
from gbfix.engine.undo import recorded_files
from gbfix.evidence.model import Evidence
from gbfix.evidence.stack import Origin, origin


@dataclass(frozen=True)
class Asked:
    """Which versions the user names, if any: files, folders or a revision of git, or the copies of the overlay."""

    original: str | None = None
    rewritten: str | None = None
    overlay: bool = False


class Sources:
    """The versions in one project. find_pending: gives what `gbfix apply` would write, to these files as well."""

    def __init__(
        self,
        asked: Asked,
        root: Path,
        evidence: Evidence | None,
        find_pending: Callable[[Iterable[Path]], Changes],
    ) -> None:
        self._asked = asked
        self._root = root
        self._evidence = evidence
        self._find_pending = find_pending
        self._pending: dict[frozenset[Path], Changes] = {}
        self._given: dict[Path, Changes] = {}

    @property
    def are_named(self) -> bool:
        """The user says which versions are compared, so that no others count."""
        asked = self._asked
        return asked.overlay or asked.original is not None or asked.rewritten is not None

    def first(self, target: Path, looked_at: frozenset[Path]) -> Changes:
        """What the user names, for a target in this file; else what is pending, in the files looked at as well.

        Raises GbfixError for a version that is not there.
        """
        if self._asked.overlay:
            return self._overlaid
        if self.are_named:
            if target not in self._given:
                self._given[target] = given(self._asked.original, self._asked.rewritten, target, self._root)
            return self._given[target]
        if looked_at not in self._pending:
            self._pending[looked_at] = self._find_pending(looked_at)
        return self._pending[looked_at]

    def applied(self, files: Iterable[Path] | None = None) -> Changes:
        """What was written to files of the project before, by default to any. Raises GbfixError (see `applied`)."""
        own = [file for file in (self._edited() if files is None else files) if self.is_ours(file)]
        return applied(own, self._root, self._digests)

    def text_then(self, file: Path) -> str | None:
        """What a file held when the run was recorded, None when that is nowhere to be found."""
        digest = self._digests.get(file)
        return text_with_digest(file, digest, self._root) if digest else None

    def is_ours(self, file: Path) -> bool:
        """True for a file of the project itself, not of an installed package."""
        return origin(str(file), str(self._root)) is Origin.PROJECT

    @cached_property
    def folders(self) -> tuple[Path, ...]:
        """Where modules of the project are usually imported from."""
        tops = (Path(os.path.realpath(Path.cwd())), self._root)
        return tuple(folder for top in tops for folder in (top, top / "src"))

    @cached_property
    def _overlaid(self) -> Changes:
        return overlaid(self._root)

    @cached_property
    def _digests(self) -> Mapping[Path, str]:
        if self._evidence is None:
            return {}
        root = Path(self._evidence.root)
        return {Path(os.path.realpath(root / file)): digest for file, digest in self._evidence.hashes.items()}

    def _edited(self) -> Iterable[Path]:
        """The files that an apply wrote or that differ from the last commit."""
        files = {record.path for record in recorded_files(self._root)}
        if commit_of(self._root, "HEAD") is not None:
            files |= {file for file in changed_since(self._root, "HEAD") if file.suffix == ".py"}
        return (file for file in files if file.is_file())
